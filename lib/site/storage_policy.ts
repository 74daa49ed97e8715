import { UNFRAMED_POLICY } from "@/lib/http/default_headers.ts";

/**
 * The policy header of the storage pages, beside the one in their head: they fetch from this origin and from the S3
 * endpoint of their login, where uploads go, and show images, sound and film of this origin.
 *
 * @param endpoint the S3 endpoint as a policy source; null where there is none that can be written as one
 */
export function storagePolicy(endpoint: string | null): string {
  const connect = endpoint === null ? "'self'" : `'self' ${endpoint}`;
  return [
    UNFRAMED_POLICY,
    `connect-src ${connect}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "frame-src 'none'",
    "worker-src 'self'",
    "form-action 'self'",
  ].join("; ");
}
