import type { S3Client } from "@aws-sdk/client-s3";
import { OBJECT_CASES } from "./object_cases.ts";
import { LISTING_CASES } from "./listing_cases.ts";
import { MULTIPART_CASES } from "./multipart_cases.ts";
import { REQUEST_CASES } from "./request_cases.ts";
import { VERSION_CASES } from "./version_cases.ts";

/** An S3 server under the contract. */
export interface ContractServer {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** The SDK in its default settings but for the path style. */
  client: S3Client;
  /** A fresh bucket's name. */
  bucket: () => Promise<string>;
}

/** Something that every S3 server has to do. */
export interface ContractCase {
  name: string;
  run: (server: ContractServer) => Promise<void>;
}

/** The part of S3 that the gateway and its users build on, as AWS answers it. */
export const S3_CONTRACT: readonly ContractCase[] = [
  ...OBJECT_CASES,
  ...LISTING_CASES,
  ...MULTIPART_CASES,
  ...VERSION_CASES,
  ...REQUEST_CASES,
];
