import { stringAt } from "@/lib/std/untrusted.ts";
import { callDoor } from "./door.ts";

/** A link that opens an object without a login. */
export interface SharedLink {
  readonly url: string;
  /** When it expires, ISO 8601. */
  readonly until: string;
}

interface Shareable {
  readonly account: string;
  readonly bucket: string;
  readonly key: string;
}

/** Creates a link that is valid for some seconds. @returns the status of the gateway where it created none */
export async function createLink({ account, bucket, key }: Shareable, seconds: number): Promise<SharedLink | number> {
  const before = Date.now();
  const { status, json } = await callDoor("/presign", account, {}, {
    method: "POST",
    json: { bucket, key, expires_in: seconds },
  });
  const url = status === 200 ? stringAt(json, "url") : null;
  if (url === null || !URL.canParse(url)) return status;
  return { url, until: new Date(before + seconds * 1000).toISOString() };
}
