//===- Socket.h - a TCP connection or a place to wait for one -------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_SOCKET_H
#define CLEAVE_RUNTIME_TRANSPORT_SOCKET_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace cleave::rt {

/// A socket that is closed with its owner.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~Socket();

  /// Listens at `port` of all interfaces; 0: any free one. Throws Failure
  /// (ExitPeer).
  static Socket listen(int port);
  /// Connects to a host by name, again and again until `seconds` have passed.
  /// Throws Failure (ExitPeer).
  static Socket connect(const std::string &host, int port, double seconds);
  /// Waits for the next connection. Throws Failure (ExitPeer).
  Socket accept(double seconds) const;

  int port() const;             ///< its own
  std::string peerHost() const; ///< the address of the other end

  /// Writes or reads all bytes; false when the connection has ended.
  bool write(const void *data, size_t bytes) const;
  bool read(void *data, size_t bytes) const;
  /// Ends the connection for both sides, and the reads of other threads.
  void shutDown() const;

private:
  int descriptor = -1;
};

} // namespace cleave::rt

#endif
