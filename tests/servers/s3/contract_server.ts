import { CreateBucketCommand, S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { randomUUID } from "node:crypto";
import type { Backend, ContractCase } from "@/tests/servers/contract.ts";

/** A server as the cases see it. */
export interface ContractServer extends Backend {
  /** The SDK in its default settings but for the path style. */
  readonly client: S3Client;
  /** A fresh bucket's name. */
  bucket(): Promise<string>;
}

/** Something that every S3 server has to do. */
export type S3Case = ContractCase<ContractServer>;

export function contractServer({ endpoint, ...credentials }: Backend): ContractServer {
  const client = new S3Client({ endpoint, credentials, region: "us-east-1", forcePathStyle: true, maxAttempts: 1 });
  const bucket = async () => {
    const Bucket = `contract-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket }));
    return Bucket;
  };
  return { endpoint, ...credentials, client, bucket };
}

/** The status and code of a refusal, such as `404 NoSuchKey`; what else happened, in words. */
export async function refusal(sent: Promise<unknown>): Promise<string> {
  try {
    await sent;
  } catch (error) {
    if (error instanceof S3ServiceException) return `${error.$metadata.httpStatusCode} ${error.name}`;
    throw error;
  }
  return "no refusal";
}
