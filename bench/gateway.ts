import { measureChunkedConnections } from "@/bench/gateway/chunked_connections.ts";
import { measureComputed } from "@/bench/gateway/computed.ts";
import { measureSmall } from "@/bench/gateway/handed_on.ts";
import { measurePages } from "@/bench/gateway/record_pages.ts";
import { measureStreams } from "@/bench/gateway/streams.ts";
import { measureUnknownLengths } from "@/bench/gateway/unknown_lengths.ts";

/** The gateway: what it hands on, what it computes, records in pages, large bodies, bodies that do not say their length. */
export const gatewayMeasures = [
  measureSmall,
  measureComputed,
  measurePages,
  measureStreams,
  measureUnknownLengths,
  measureChunkedConnections,
];
