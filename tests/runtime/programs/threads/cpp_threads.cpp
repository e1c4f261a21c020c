// Threads of the C++ library, most of which make their calls from libstdc++ itself.
#include <thread>
#include <mutex>
#include <shared_mutex>
#include <condition_variable>
#include <barrier>
#include <latch>
#include <semaphore>
#include <future>
#include <atomic>
#include <vector>
#include <cstdio>
#include <numeric>
#include <stop_token>
#include <stdexcept>
#include <chrono>
#include <iostream>
using namespace std;
static mutex m;
static shared_mutex sm;
static condition_variable cv;
static condition_variable_any cva;
static int shared_value;
static atomic<long> total{0};
static once_flag once_;
static int onces;
struct Local {
    int id = 0;
    ~Local()
    {
        total += 1000;
    }
};
static thread_local Local local;
static int expensive()
{
    static int v = [] {
        this_thread::sleep_for(chrono::microseconds(50));
        return 42;
    }();
    return v;
}
struct Guard {
    int &x;
    ~Guard()
    {
        x++;
    }
};
int main()
{
    constexpr int N = 6;
    vector<thread> threads;
    barrier bar(N);
    latch done(N);
    counting_semaphore<4> sem(2);
    vector<long> part(N);
    int unwound = 0;
    bool ready = false;
    for (int i = 0; i < N; i++)
        threads.emplace_back([&, i] {
            local.id = i;
            call_once(once_, [] { onces++; });
            for (int k = 0; k < 50; k++) {
                lock_guard<mutex> g(m);
                shared_value++;
            }
            bar.arrive_and_wait();
            {
                shared_lock<shared_mutex> g(sm);
                part[i] = shared_value >= 300;
            }
            {
                unique_lock<shared_mutex> g(sm);
                shared_value++;
            }
            bar.arrive_and_wait();
            sem.acquire();
            total += expensive();
            sem.release();
            {
                unique_lock<mutex> g(m);
                cv.wait(g, [&] { return ready; });
            }
            try {
                Guard g{unwound};
                lock_guard<mutex> l(m);
                if (i % 2)
                    throw runtime_error("x");
            } catch (const runtime_error &) {
                total += 1;
            }
            done.count_down();
        });
    {
        lock_guard<mutex> g(m);
        ready = true;
    }
    cv.notify_all();
    done.wait();
    for (auto &t : threads)
        t.join();
    cout << shared_value << " " << accumulate(part.begin(), part.end(), 0L) << " " << total << " " << onces
         << " " << unwound << endl;
    auto f = async(launch::async, [] { return 7 * 6; });
    promise<int> p;
    auto pf = p.get_future();
    thread pt([&] { p.set_value(5); });
    cout << f.get() + pf.get() << endl;
    pt.join();
    future<int> bad = async(launch::async, []() -> int { throw logic_error("bad"); });
    try {
        bad.get();
    } catch (const logic_error &e) {
        cout << e.what() << endl;
    }
    atomic<int> flag{0};
    jthread w([&] {
        flag.wait(0);
        flag = 2;
        flag.notify_all();
    });
    flag = 1;
    flag.notify_all();
    w.join();
    cout << flag << endl;
    {
        jthread j([](stop_token st) {
            while (!st.stop_requested())
                this_thread::yield();
        });
    }
    unique_lock<mutex> g(m);
    auto r = cv.wait_for(g, chrono::milliseconds(1));
    cout << (r == cv_status::timeout) << endl;
    timed_mutex tm_;
    tm_.lock();
    thread tt([&] { cout << tm_.try_lock_for(chrono::microseconds(100)) << endl; });
    tt.join();
    tm_.unlock();
    packaged_task<int(int)> task([](int x) { return x + 1; });
    auto tf = task.get_future();
    thread tk(std::move(task), 9);
    tk.join();
    cout << tf.get() << endl;
    binary_semaphore bs(0);
    cout << bs.try_acquire_for(chrono::microseconds(10)) << endl;
    promise<void> go;
    auto sf = async(launch::async, [&] {
                  go.get_future().wait();
                  this_thread::sleep_for(chrono::milliseconds(1));
                  return 1;
              }).share();
    bool late = sf.wait_for(chrono::microseconds(10)) == future_status::timeout;
    go.set_value();
    cout << late << sf.get() << endl;
    atomic<__int128> big{1};
    __int128 e = 1;
    big.compare_exchange_strong(e, 6);
    cout << (long)big.load() << endl;
    struct Three {
        char c[24];
    };
    atomic<Three> t3;
    Three v = t3.load();
    v.c[3] = 5;
    t3.store(v);
    cout << (int)t3.load().c[3] << endl;
    return 0;
}
