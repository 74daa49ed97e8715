import { contractTests } from "@/tests/servers/contract.ts";
import { contractServer } from "./contract_server.ts";
import { LISTING_CASES, VERSION_CASES } from "./listing_cases.ts";
import { MULTIPART_CASES } from "./multipart_cases.ts";
import { OBJECT_CASES } from "./object_cases.ts";
import { REQUEST_CASES } from "./request_cases.ts";

/** Found by running the contract on them. */
const DIFFERENCES = {
  VERSITYGW: {
    "conditions of a read, in their order": "takes fractions of a second into If-Modified-Since",
    "copies keep or replace metadata, and obey the conditions of their source": "answers a failed condition with 304",
    "keys are listed in the binary order of UTF-8, page after page": "refuses keys that end in a slash and have a body",
    "encoded listings spell keys and prefixes as in an address": "leaves a plus sign as it is",
    "keys of 1,024 bytes and with odd characters are just keys": "keys are paths of files",
    "parts in any order become one object, with its metadata and tags":
      "refuses the checksums of parts in a complete where the upload named none",
    "a complete is refused for small parts, unknown parts and parts out of order": "looks at sizes before the order",
    "parts are copied from ranges of an object": "takes ranges without an end",
    "versions are kept, read and deleted one by one": "gives the null version instead of the newest one",
    "while versioning is suspended, writes take the place of the null version": "does not list the null version",
    "requests without a signature, with a wrong key or a wrong secret are refused":
      "says AccessDenied of the second version of signatures",
    "listings of versions go on behind both markers": "begins again and again",
  },
  MINIO: {
    "ranges: what they give, which are ignored and which cannot be satisfied":
      "refuses a range that ends before it begins",
    "conditions of a read, in their order": "looks at If-Modified-Since beside If-None-Match",
    "a delete under a condition spares another version of the object": "deletes regardless of If-Match",
    "a copy has the checksum of its source, or the one that is asked for": "tells no checksum of a copy",
    "buckets are listed in pages, checked, and deleted once they are empty": "lists all buckets on one page",
    "a delimiter folds keys into prefixes, in either version of the listing": "its next marker is not the last entry",
    "keys of 1,024 bytes and with odd characters are just keys": "refuses a//b",
    "uploads under way are listed by prefix and ended by an abort": "lists uploads of a whole key only",
    "a part with another checksum than its upload's is refused": "says InvalidArgument",
    "a checksum that does not hold is refused": "says XAmzContentChecksumMismatch",
    "requests without a signature, with a wrong key or a wrong secret are refused": "says InvalidRequest of any scheme",
  },
};

/** The part of S3 that the gateway and its users build on, as AWS answers it. */
contractTests({
  name: "S3 contract",
  cases: [...OBJECT_CASES, ...LISTING_CASES, ...MULTIPART_CASES, ...VERSION_CASES, ...REQUEST_CASES],
  differences: DIFFERENCES,
  given: (backend, run) => run(contractServer(backend)),
});
