// A read-only file system that shows another directory, each operation after a wait: a slow disk
// for bench_busy.py.
//
// usage: slow_disk SOURCE MICROSECONDS MOUNTPOINT [options of libfuse]
//
// What the kernel has cached costs no wait, as on a disk; --drop-caches of the caller makes it
// cold.
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* source;
static useconds_t delay;

static const char* at(const char* path, char* whole) {
    usleep(delay);
    snprintf(whole, PATH_MAX, "%s%s", source, path);
    return whole;
}

static int result(int status) {
    return status < 0 ? -errno : status;
}

static void* begin(struct fuse_conn_info* connection, struct fuse_config* config) {
    (void)connection;
    config->entry_timeout = config->attr_timeout = config->negative_timeout = 3600;
    config->kernel_cache = 1;
    config->use_ino = 1;
    return NULL;
}

static int get_attributes(const char* path, struct stat* status, struct fuse_file_info* file) {
    (void)file;
    char whole[PATH_MAX];
    return result(lstat(at(path, whole), status));
}

static int read_link(const char* path, char* text, size_t size) {
    char whole[PATH_MAX];
    const ssize_t length = readlink(at(path, whole), text, size - 1);
    if (length < 0) {
        return -errno;
    }
    text[length] = '\0';
    return 0;
}

static int open_file(const char* path, struct fuse_file_info* file) {
    char whole[PATH_MAX];
    if ((file->flags & O_ACCMODE) != O_RDONLY) {
        return -EROFS;
    }
    const int fd = open(at(path, whole), O_RDONLY);
    if (fd < 0) {
        return -errno;
    }
    file->fh = (uint64_t)fd;
    return 0;
}

static int read_file(const char* path, char* text, size_t size, off_t offset,
                     struct fuse_file_info* file) {
    (void)path;
    usleep(delay);
    return result((int)pread((int)file->fh, text, size, offset));
}

static int close_file(const char* path, struct fuse_file_info* file) {
    (void)path;
    return result(close((int)file->fh));
}

static int read_directory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t offset,
                          struct fuse_file_info* file, enum fuse_readdir_flags flags) {
    (void)offset;
    (void)file;
    (void)flags;
    char whole[PATH_MAX];
    DIR* directory = opendir(at(path, whole));
    if (directory == NULL) {
        return -errno;
    }
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const struct stat status = {.st_ino = entry->d_ino, .st_mode = (mode_t)entry->d_type << 12};
        if (fill(buffer, entry->d_name, &status, 0, 0) != 0) {
            break;
        }
    }
    closedir(directory);
    return 0;
}

static const struct fuse_operations operations = {.init = begin,
                                                  .getattr = get_attributes,
                                                  .readlink = read_link,
                                                  .open = open_file,
                                                  .read = read_file,
                                                  .release = close_file,
                                                  .readdir = read_directory};

int main(int count, char** words) {
    if (count < 4) {
        fprintf(stderr, "usage: slow_disk SOURCE MICROSECONDS MOUNTPOINT [options of libfuse]\n");
        return 2;
    }
    source = words[1];
    delay = (useconds_t)strtoul(words[2], NULL, 10);
    words[2] = words[0];
    return fuse_main(count - 2, words + 2, &operations, NULL);
}
