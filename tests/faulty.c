/* Preloaded into a process it makes the disk under it fail, or slow, as a file that is shared with a test says.
 *
 * Concerned are regular files whose path begins with FAULTY_UNDER. A write that is to fail at a given place
 * leaves its first half there, as a broken disk may. The shared file, FAULTY_CONTROL, holds six signed numbers
 * of 64 bits: the errno of writes, the errno of syncs, the microseconds that a sync takes longer, and how many
 * writes failed, syncs failed, and syncs were slowed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE_ERRNO, SYNC_ERRNO, SYNC_USECS, WRITES_FAILED, SYNCS_FAILED, SYNCS_SLOWED, NUMBERS };

static _Atomic long long *numbers;
static const char *under;

__attribute__((constructor)) static void share(void)
{
    const char *path = getenv("FAULTY_CONTROL");
    under = getenv("FAULTY_UNDER");
    int fd = path && under ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *shared = mmap(NULL, NUMBERS * sizeof *numbers, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    numbers = shared == MAP_FAILED ? NULL : shared;
}

static int concerned(int fd)
{
    char link[32], path[4096];
    struct stat found;
    if (fstat(fd, &found) || !S_ISREG(found.st_mode))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    return length >= (ssize_t)strlen(under) && !strncmp(path, under, strlen(under));
}

/* The errno that a write to it is to have; 0: none. */
static int broken(int fd)
{
    int kept = errno;
    long long found = numbers ? numbers[WRITE_ERRNO] : 0;
    if (found && !concerned(fd))
        found = 0;
    if (found)
        numbers[WRITES_FAILED]++;
    errno = kept;
    return (int)found;
}

static int sync_fails(int fd)
{
    int kept = errno;
    if (!numbers || !(numbers[SYNC_ERRNO] || numbers[SYNC_USECS]) || !concerned(fd)) {
        errno = kept;
        return 0;
    }
    long long usecs = numbers[SYNC_USECS];
    if (usecs) {
        struct timespec left = {usecs / 1000000, usecs % 1000000 * 1000};
        numbers[SYNCS_SLOWED]++;
        while (nanosleep(&left, &left) && errno == EINTR)
            ;
    }
    errno = kept;
    if (!numbers[SYNC_ERRNO])
        return 0;
    numbers[SYNCS_FAILED]++;
    errno = (int)numbers[SYNC_ERRNO];
    return 1;
}

#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) \
        next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define SYNC(name) \
    int name(int fd) \
    { \
        NEXT(name); \
        return sync_fails(fd) ? -1 : next(fd); \
    }

#define FAIL_IF_BROKEN(half) \
    int fault = broken(fd); \
    if (fault) { \
        half; \
        errno = fault; \
        return -1; \
    }

#define PWRITE(name, offset_t) \
    ssize_t name(int fd, const void *from, size_t size, offset_t at) \
    { \
        NEXT(name); \
        FAIL_IF_BROKEN(if (next(fd, from, size / 2, at) < 0) {}) \
        return next(fd, from, size, at); \
    }

#define PWRITEV(name, offset_t) \
    ssize_t name(int fd, const struct iovec *from, int count, offset_t at) \
    { \
        NEXT(name); \
        FAIL_IF_BROKEN() \
        return next(fd, from, count, at); \
    }

#define ALLOCATE(name, offset_t) \
    int name(int fd, offset_t at, offset_t size) \
    { \
        NEXT(name); \
        int fault = broken(fd); \
        return fault ? fault : next(fd, at, size); \
    }

SYNC(fsync)
SYNC(fdatasync)
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

ssize_t write(int fd, const void *from, size_t size)
{
    NEXT(write);
    FAIL_IF_BROKEN()
    return next(fd, from, size);
}

ssize_t writev(int fd, const struct iovec *from, int count)
{
    NEXT(writev);
    FAIL_IF_BROKEN()
    return next(fd, from, count);
}
