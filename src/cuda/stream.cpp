#include "cuda/stream.h"

#include "cuda/check.h"

namespace ridge::cuda {

Event::Event(Timing timing) {
  check(cudaEventCreateWithFlags(&event_, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming),
        "making an event");
}
Event::~Event() {
  if (event_) cudaEventDestroy(event_);
}
void Event::wait() const { check(cudaEventSynchronize(event_), "waiting for the GPU"); }
double Event::seconds_since(const Event& begin) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin.event_, event_), "reading two events");
  return double(ms) * 1e-3;
}

Stream::Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
Stream::~Stream() {
  if (stream_) cudaStreamDestroy(stream_);
}
void Stream::wait() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }
void Stream::record(const Event& e) const { check(cudaEventRecord(e, stream_), "recording an event"); }
void Stream::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copying");
}

void Stream::clear(void* to, std::size_t bytes) const {
  if (bytes > 0) check(cudaMemsetAsync(to, 0, bytes, stream_), "clearing memory");
}

void Graph::begin() { check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a graph"); }
void Graph::abandon() {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream_, &graph);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}
void Graph::end() {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream_, &graph), "ending a graph");
  const cudaError_t code = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  check(code, "instantiating a graph");
}
Graph::~Graph() {
  if (graph_) cudaGraphExecDestroy(graph_);
}
void Graph::launch() const { check(cudaGraphLaunch(graph_, stream_), "launching a graph"); }

}  // namespace ridge::cuda
