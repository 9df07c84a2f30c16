extern "C" int needed_answer();
extern "C" int answer();
extern "C" int answer() {
    return needed_answer();
}
