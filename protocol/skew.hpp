// Which of two builds is the newer, when client and daemon are not of one build. Pure.
//
// Law: of two builds at most one is newer, so that no two clients can make each other's daemon
// leave in turns.
#pragma once

#include "protocol/message.hpp"

namespace cudaenv::protocol {

enum class Skew {
    Same,    // one build
    Older,   // the other is older than this one: it is asked to leave
    Newer,   // the other is newer: this one does without it
    Unknown, // other, and nothing says which is newer: this one does without it too
};

// By protocol number, then by when the revision was made, then by version ("0.1.0" of
// "0.1.0+g1a2b3c4").
Skew skew_of(const Hello& other, const Hello& mine);

// This build's hello, without capabilities.
Hello own_hello();

} // namespace cudaenv::protocol
