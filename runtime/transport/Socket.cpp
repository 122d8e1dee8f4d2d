//===- Socket.cpp - a TCP connection or a place to wait for one -----------===//

#include "runtime/transport/Socket.h"

#include "runtime/support/Error.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace cleave::rt {

using Clock = std::chrono::steady_clock;

Socket::~Socket() {
  if (descriptor >= 0)
    close(descriptor);
}

static void sendAtOnce(int descriptor) {
  int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Socket Socket::listen(int port) {
  Socket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int on = 1;
  setsockopt(made.descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<uint16_t>(port));
  constexpr int Backlog = 1024;
  if (bind(made.descriptor, reinterpret_cast<sockaddr *>(&address),
           sizeof(address)) != 0 ||
      ::listen(made.descriptor, Backlog) != 0)
    fail(ExitPeer, "cannot listen at port {}: {}; CLEAVE_PORT names another",
         port, std::strerror(errno));
  return made;
}

static Socket tryConnect(const std::string &host, int port) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    return {};
  Socket made;
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor, found->ai_addr, found->ai_addrlen) == 0) {
    sendAtOnce(descriptor);
    made = Socket(descriptor);
  } else {
    close(descriptor);
  }
  freeaddrinfo(found);
  return made;
}

Socket Socket::connect(const std::string &host, int port, double seconds) {
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    Socket made = tryConnect(host, port);
    if (made.descriptor >= 0)
      return made;
    if (Clock::now() > end)
      fail(ExitPeer, "nobody answers at {}:{} after {} s", host, port, seconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Socket Socket::accept(double seconds) const {
  pollfd waited = {descriptor, POLLIN, 0};
  if (poll(&waited, 1, static_cast<int>(seconds * 1000)) != 1)
    fail(ExitPeer, "the other ranks did not start within {} s", seconds);
  int accepted = accept4(descriptor, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0)
    fail(ExitPeer, "cannot take a connection: {}", std::strerror(errno));
  sendAtOnce(accepted);
  return Socket(accepted);
}

int Socket::port() const {
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &size);
  return ntohs(address.sin_port);
}

std::string Socket::peerHost() const {
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  getpeername(descriptor, reinterpret_cast<sockaddr *>(&address), &size);
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
  return text;
}

bool Socket::write(const void *data, size_t bytes) const {
  const auto *next = static_cast<const char *>(data);
  while (bytes) {
    ssize_t sent = ::send(descriptor, next, bytes, MSG_NOSIGNAL);
    if (sent <= 0 && errno != EINTR)
      return false;
    if (sent > 0) {
      next += sent;
      bytes -= sent;
    }
  }
  return true;
}

bool Socket::read(void *data, size_t bytes) const {
  auto *next = static_cast<char *>(data);
  while (bytes) {
    ssize_t came = ::recv(descriptor, next, bytes, 0);
    if (came == 0 || (came < 0 && errno != EINTR))
      return false;
    if (came > 0) {
      next += came;
      bytes -= came;
    }
  }
  return true;
}

void Socket::shutDown() const { shutdown(descriptor, SHUT_RDWR); }

} // namespace cleave::rt
