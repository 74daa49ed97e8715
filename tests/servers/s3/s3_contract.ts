import type { ContractCase } from "./case.ts";
import { OBJECT_CASES } from "./object_cases.ts";
import { LISTING_CASES } from "./listing_cases.ts";
import { MULTIPART_CASES } from "./multipart_cases.ts";
import { REQUEST_CASES } from "./request_cases.ts";
import { VERSION_CASES } from "./version_cases.ts";

/** The part of S3 that the gateway and its users build on, as AWS answers it. */
export const S3_CONTRACT: readonly ContractCase[] = [
  ...OBJECT_CASES,
  ...LISTING_CASES,
  ...MULTIPART_CASES,
  ...VERSION_CASES,
  ...REQUEST_CASES,
];
