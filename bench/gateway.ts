import { measureComputed } from "@/bench/gateway/computed.ts";
import { measureSmall } from "@/bench/gateway/handed_on.ts";
import { measurePages } from "@/bench/gateway/record_pages.ts";
import { measureStreams } from "@/bench/gateway/streams.ts";

/** The gateway: what it hands on, what it computes, records in pages, large bodies. */
export const gatewayMeasures = [measureSmall, measureComputed, measurePages, measureStreams];
