import type { Client } from "./gateway_server.ts";

/** Something that the gateway has to do in front of every S3 server. */
export interface GatewayCase {
  readonly name: string;
  run(client: Client): Promise<void>;
}
