#include "kernels/ptx/ptx_text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::kernels {

namespace {

constexpr std::string_view k_target = R"ptx(
.target sm_50
.address_size 64
)ptx";

// What both begin with; its registers are declared by each.
constexpr std::string_view k_arguments = R"ptx(
    ld.param.u64 %from, [in];
    ld.param.u64 %to, [out];
    ld.param.u32 %n, [count];
    cvta.to.global.u64 %from, %from;
    cvta.to.global.u64 %to, %to;
    mov.u32 %block, %ctaid.x;
    mov.u32 %thread, %tid.x;
)ptx";

// out[i] = in[i] * 1664525 + 1013904223, a grid's stride apart.
constexpr std::string_view k_global = R"ptx(
.visible .entry cudaenv_global(.param .u64 in, .param .u64 out, .param .u32 count)
{
    .reg .pred %done;
    .reg .u32 %i, %n, %block, %size, %thread, %blocks, %stride, %word;
    .reg .u64 %from, %to, %offset, %address;
)ptx";
constexpr std::string_view k_global_body = R"ptx(
    mov.u32 %size, %ntid.x;
    mov.u32 %blocks, %nctaid.x;
    mad.lo.u32 %i, %block, %size, %thread;
    mul.lo.u32 %stride, %size, %blocks;
next:
    setp.ge.u32 %done, %i, %n;
    @%done bra finished;
    mul.wide.u32 %offset, %i, 4;
    add.u64 %address, %from, %offset;
    ld.global.u32 %word, [%address];
    mad.lo.u32 %word, %word, 1664525, 1013904223;
    add.u64 %address, %to, %offset;
    st.global.u32 [%address], %word;
    add.u32 %i, %i, %stride;
    bra next;
finished:
    ret;
}
)ptx";

// out[block] = the sum of the 1024 words of its block, as a tree in shared memory; 256 threads.
constexpr std::string_view k_shared = R"ptx(
.visible .entry cudaenv_shared(.param .u64 in, .param .u64 out, .param .u32 count)
{
    .shared .align 4 .b8 sums[1024];
    .reg .pred %outside, %idle, %last;
    .reg .u32 %i, %n, %block, %thread, %word, %sum, %part, %half, %here, %there, %bytes;
    .reg .u64 %from, %to, %offset, %address;
)ptx";
constexpr std::string_view k_shared_body = R"ptx(
    mad.lo.u32 %i, %block, 1024, %thread;
    mov.u32 %sum, 0;
    mov.u32 %part, 0;
gather:
    mov.u32 %word, 0;
    setp.ge.u32 %outside, %i, %n;
    @%outside bra gathered;
    mul.wide.u32 %offset, %i, 4;
    add.u64 %address, %from, %offset;
    ld.global.u32 %word, [%address];
gathered:
    add.u32 %sum, %sum, %word;
    add.u32 %i, %i, 256;
    add.u32 %part, %part, 1;
    setp.lt.u32 %last, %part, 4;
    @%last bra gather;

    mov.u32 %here, sums;
    mad.lo.u32 %here, %thread, 4, %here;
    st.shared.u32 [%here], %sum;
    bar.sync 0;
    mov.u32 %half, 128;
halve:
    setp.ge.u32 %idle, %thread, %half;
    @%idle bra waited;
    shl.b32 %bytes, %half, 2;
    add.u32 %there, %here, %bytes;
    ld.shared.u32 %sum, [%here];
    ld.shared.u32 %word, [%there];
    add.u32 %sum, %sum, %word;
    st.shared.u32 [%here], %sum;
waited:
    bar.sync 0;
    shr.u32 %half, %half, 1;
    setp.ne.u32 %last, %half, 0;
    @%last bra halve;

    setp.ne.u32 %idle, %thread, 0;
    @%idle bra finished;
    ld.shared.u32 %sum, [%here];
    mul.wide.u32 %offset, %block, 4;
    add.u64 %address, %to, %offset;
    st.global.u32 [%address], %sum;
finished:
    ret;
}
)ptx";

struct IsaOfCuda {
    std::uint32_t major;
    std::uint32_t minor;
    const char* isa;
};

// PTX ISA, "Release Notes", table "PTX Release History":
// https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes
// There was no release 12.7; its driver branch (565) reports that number and accepts 8.6.
constexpr auto k_table = std::to_array<IsaOfCuda>({
    {9, 0, "6.0"},  {9, 1, "6.1"},  {9, 2, "6.2"},  {10, 0, "6.3"}, {10, 1, "6.4"},
    {10, 2, "6.5"}, {11, 0, "7.0"}, {11, 1, "7.1"}, {11, 2, "7.2"}, {11, 3, "7.3"},
    {11, 4, "7.4"}, {11, 5, "7.5"}, {11, 6, "7.6"}, {11, 7, "7.7"}, {11, 8, "7.8"},
    {12, 0, "8.0"}, {12, 1, "8.1"}, {12, 2, "8.2"}, {12, 3, "8.3"}, {12, 4, "8.4"},
    {12, 5, "8.5"}, {12, 6, "8.5"}, {12, 7, "8.6"}, {12, 8, "8.7"}, {12, 9, "8.8"},
});

} // namespace

std::string ptx_text(std::string_view isa) {
    std::string text = ".version " + std::string(isa);
    for (const std::string_view part :
         {k_target, k_global, k_arguments, k_global_body, k_shared, k_arguments, k_shared_body}) {
        text += part;
    }
    return text;
}

std::optional<DottedVersion> ptx_isa_of_cuda(const DottedVersion& cuda) {
    // From 13.0 on the two count together.
    if (cuda.major() == 13) {
        return DottedVersion::of("9." + std::to_string(cuda.minor()));
    }
    const auto* row = std::ranges::find_if(k_table, [&](const IsaOfCuda& known) {
        return known.major == cuda.major() && known.minor == cuda.minor();
    });
    return row == k_table.end() ? std::nullopt : std::optional(DottedVersion::of(row->isa));
}

} // namespace cudaenv::kernels
