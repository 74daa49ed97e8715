import type { S3Client } from "@aws-sdk/client-s3";

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
