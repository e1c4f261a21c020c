// A pool of threads in a static object, and what a static initialiser gets from std::async.
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(int size)
    {
        for (int i = 0; i < size; i++)
            threads.emplace_back([this] { serve(); });
    }
    ~Pool()
    {
        {
            std::lock_guard lock(mutex);
            stop = true;
        }
        changed.notify_all();
        for (auto &thread : threads)
            thread.join();
        std::printf("pool closed\n");
    }
    std::future<long> add(std::function<long()> what)
    {
        std::packaged_task<long()> task(std::move(what));
        auto result = task.get_future();
        {
            std::lock_guard lock(mutex);
            tasks.push(std::move(task));
        }
        changed.notify_one();
        return result;
    }

  private:
    void serve()
    {
        for (;;) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [this] { return stop || !tasks.empty(); });
            if (tasks.empty())
                return;
            auto task = std::move(tasks.front());
            tasks.pop();
            lock.unlock();
            task();
        }
    }
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<std::packaged_task<long()>> tasks;
    bool stop = false;
    std::vector<std::thread> threads;
};

static std::thread::id first = std::this_thread::get_id();
static Pool pool(4);
static long early = std::async(std::launch::async, [] { return 42L; }).get();

int main()
{
    std::vector<std::future<long>> results;
    for (int part = 0; part < 24; part++)
        results.push_back(pool.add([part] {
            std::vector<long> values(500);
            std::iota(values.begin(), values.end(), part);
            return std::accumulate(values.begin(), values.end(), 0L);
        }));
    long sum = 0;
    for (auto &result : results)
        sum += result.get();
    std::printf("%ld, %ld, %s\n", sum, early, first == std::this_thread::get_id() ? "the same" : "another");
}
