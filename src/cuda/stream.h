// Streams, events and graphs, each owned by one object.
#pragma once
#include <cuda_runtime_api.h>

#include <utility>

namespace ridge::cuda {

class Event {
 public:
  enum class Timing : unsigned char { off, on };
  explicit Event(Timing timing = Timing::off);
  ~Event();
  Event(Event&& o) noexcept : event_(std::exchange(o.event_, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }
  void wait() const;                               // the host waits
  double seconds_since(const Event& begin) const;  // both with timing, both done

 private:
  cudaEvent_t event_ = nullptr;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const;  // the host waits for all that was given to it
  void record(const Event& e) const;
  void clear(void* to, std::size_t bytes) const;
  void copy(void* to, const void* from, std::size_t bytes) const;  // asynchronous, any direction

 private:
  cudaStream_t stream_ = nullptr;
};

// A graph ready to be launched, captured from what `record` puts on the stream.
class Graph {
 public:
  template <class Record> Graph(const Stream& stream, Record record) : stream_(stream) {
    begin();
    try {
      record();
    } catch (...) {
      abandon();
      throw;
    }
    end();
  }
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch() const;

 private:
  void begin();
  void abandon();
  void end();
  const Stream& stream_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace ridge::cuda
