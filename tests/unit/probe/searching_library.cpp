extern "C" int cudaenv_searching_library() {
    return 1;
}
