/* Prints what the system's files say about processors. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPU "/sys/devices/system/cpu"

static int lines_with(const char *path, const char *start)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += strncmp(line, start, strlen(start)) == 0;
    if (file != NULL)
        fclose(file);
    return count;
}

static void show(int directory, const char *path)
{
    char text[4096] = "";
    int file = openat(directory, path, O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    text[length > 0 ? length - 1 : 0] = 0;
    printf("%s: %s\n", path, text);
    close(file);
}

static int is_processor(const struct dirent *entry)
{
    return strncmp(entry->d_name, "cpu", 3) == 0 && entry->d_name[3] >= '0' && entry->d_name[3] <= '9';
}

int main(void)
{
    struct dirent **entries;
    struct stat about;
    int root = open("/", O_RDONLY | O_DIRECTORY), count = 0;
    volatile double sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += i;
    printf("%d %d\n", lines_with("/proc/cpuinfo", "processor\t"), lines_with("/proc/stat", "cpu"));
    DIR *directory = opendir(CPU);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += is_processor(entry);
    closedir(directory);
    printf("%d %d\n", count, scandir(CPU, &entries, is_processor, alphasort));
    show(AT_FDCWD, CPU "/online");
    show(root, "sys/devices/system/cpu/possible");
    show(AT_FDCWD, CPU "/cpu1/topology/core_siblings");
    show(AT_FDCWD, CPU "/cpu1/topology/thread_siblings_list");
    show(AT_FDCWD, CPU "/cpu1/cache/index0/size");
    show(AT_FDCWD, CPU "/cpu1/cache/index2/shared_cpu_list");
    show(AT_FDCWD, "/sys/devices/system/node/node1/cpulist");
    printf("%d %d %d\n", access(CPU "/cpu0/online", R_OK), access(CPU "/cpu4000", R_OK),
           stat(CPU "/cpu2", &about) == 0 && S_ISDIR(about.st_mode));
    return access("/proc/self/maps", R_OK);
}
