extern "C" int needed_answer();
extern "C" int needed_answer() {
    return 42;
}
