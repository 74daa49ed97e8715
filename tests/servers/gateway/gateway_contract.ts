import { BUCKET_CASES } from "./bucket_cases.ts";
import type { Client } from "./gateway_server.ts";
import { OBJECT_CASES } from "./object_cases.ts";
import { UPLOAD_CASES } from "./upload_cases.ts";

/** Something that the gateway has to do in front of every S3 server. */
export interface GatewayCase {
  readonly name: string;
  run(client: Client): Promise<void>;
}

/** The gateway's data plane as its clients see it, whatever store is behind it. */
export const GATEWAY_CONTRACT: readonly GatewayCase[] = [...BUCKET_CASES, ...OBJECT_CASES, ...UPLOAD_CASES];
