/*
 * Preloaded into a process (LD_PRELOAD), makes calls on files below a folder fail at random, as a failing disk does.
 *
 * IO_FAULTS_FOLDER  the folder, without a slash at its end
 * IO_FAULTS         a file of 16 bytes that may change at any time, all little-endian: which calls fail (bits), how many of
 *                   a million, the errno, and how many have failed so far
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITES = 1, SYNCS = 2, RENAMES = 4, REMOVALS = 8, READS = 16, OPENS = 32, CUTS = 64 };

struct control {
  uint32_t calls;
  uint32_t per_million;
  int32_t error;
  _Atomic uint32_t failed;
};

static struct control *control;
static const char *folder;
static size_t folder_length;
static _Atomic uint64_t state = 88172645463325252ULL;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("IO_FAULTS_FOLDER");
  const char *path = getenv("IO_FAULTS");
  if (!folder || !path) return;
  folder_length = strlen(folder);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) control = mapped;
}

static int drawn(void) {
  uint64_t x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15ULL);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return x % 1000000 < control->per_million;
}

static int is_below(const char *path) {
  return path && strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

/* Whether this call fails: errno is set then. */
static int fails(uint32_t call, const char *path) {
  if (!control || !(control->calls & call) || !is_below(path) || !drawn()) return 0;
  atomic_fetch_add(&control->failed, 1);
  errno = control->error;
  return 1;
}

static int fails_at(uint32_t call, int fd) {
  if (!control || !(control->calls & call)) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(call, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AT(call, fd, name, ...) \
  static __typeof__(&name) next; \
  if (!next) next = NEXT(name); \
  return fails_at(call, fd) ? -1 : next(__VA_ARGS__)

ssize_t write(int fd, const void *bytes, size_t count) { AT(WRITES, fd, write, fd, bytes, count); }
ssize_t writev(int fd, const struct iovec *parts, int count) { AT(WRITES, fd, writev, fd, parts, count); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { AT(WRITES, fd, pwrite64, fd, bytes, count, at); }
ssize_t read(int fd, void *bytes, size_t count) { AT(READS, fd, read, fd, bytes, count); }
ssize_t pread(int fd, void *bytes, size_t count, off_t at) { AT(READS, fd, pread, fd, bytes, count, at); }
ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) { AT(READS, fd, pread64, fd, bytes, count, at); }
int fsync(int fd) { AT(SYNCS, fd, fsync, fd); }
int fdatasync(int fd) { AT(SYNCS, fd, fdatasync, fd); }
int ftruncate(int fd, off_t length) { AT(CUTS, fd, ftruncate, fd, length); }
int ftruncate64(int fd, off64_t length) { AT(CUTS, fd, ftruncate64, fd, length); }

int rename(const char *from, const char *to) {
  return fails(RENAMES, to) ? -1 : NEXT(rename)(from, to);
}

int unlink(const char *path) {
  return fails(REMOVALS, path) ? -1 : NEXT(unlink)(path);
}

int unlinkat(int fd, const char *path, int flags) {
  return fails(REMOVALS, path) ? -1 : NEXT(unlinkat)(fd, path, flags);
}

static mode_t mode_of(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(OPENS, path) ? -1 : NEXT(open64)(path, flags, mode);
}
