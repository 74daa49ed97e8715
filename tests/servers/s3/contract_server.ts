import { CreateBucketCommand, S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { randomUUID } from "node:crypto";
import type { ContractServer } from "./case.ts";

/** A server as the cases see it. */
export function contractServer(
  endpoint: string,
  credentials: { accessKeyId: string; secretAccessKey: string },
): ContractServer {
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
