import { measureListings } from "@/bench/store/listing.ts";
import { measurePuts } from "@/bench/store/puts.ts";
import { measureStreams } from "@/bench/store/streams.ts";

/** The embedded store: listings, small writes, large bodies. */
export const storeMeasures = [measureListings, measurePuts, measureStreams];
