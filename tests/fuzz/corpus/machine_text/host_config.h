#if defined(__GNUC__)
#if __GNUC__ > 10 || (__GNUC__ == 4 && __GNUC_MINOR__ < 8) /* x */
#error -- unsupported GNU version! gcc
#endif
#elif defined(__clang__) && (__clang_major__ >= 12)
#error -- unsupported clang version!
#else
#define X 0x5L
#undef X
#endif
