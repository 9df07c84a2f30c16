// What the kernels of cudaenv's probe compute (kernels/device, kernels/ptx), in plain C++ on memory
// of the host: so that a ladder can be climbed to its end where there is no GPU.
#pragma once

#include <array>
#include <string_view>

namespace standin {

struct Launch {
    std::array<unsigned, 3> grid{};
    std::array<unsigned, 3> block{};
    void** parameters = nullptr; // as of cuLaunchKernel: the address of each
    bool wrong = false;          // one element of the result is to be off
};

bool knows_kernel(std::string_view name);
void run_kernel(std::string_view name, const Launch& launch);

} // namespace standin
