// Error checks of cuBLAS.

#pragma once

#include <cublas_v2.h>

#include <cstdio>
#include <cstdlib>

// Ends the program with a message if a call of cuBLAS fails.
#define CHECK_CUBLAS(call)                                                                                       \
    do {                                                                                                         \
        const cublasStatus_t status_ = (call);                                                                   \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                                  \
            std::fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, static_cast<int>(status_)); \
            std::exit(1);                                                                                        \
        }                                                                                                        \
    } while (0)
