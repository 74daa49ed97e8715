import { z } from "zod";
import { CLASS_NAME, USERNAME } from "./store_rules.ts";

/** A name of a tenant, which is a label of a host name. */
export const hostLabel = z.string().min(1).max(63).regex(
  /^(?![Xx][Nn]--)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/,
  "Names have letters, digits and inner hyphens, and do not begin with xn--",
);

/** A name of a namespace, which is a bucket: labels joined by dots, no IPv4 address (S3 API, bucket naming rules). */
export const namespaceName = z.string().min(1).max(63).regex(
  /^(?![Xx][Nn]--)(?!\d+(?:\.\d+){3}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/,
  "Names have letters, digits, inner hyphens and single inner dots, do not begin with xn--, and are no IP address",
);

/** A user name; the store compares it without case. */
export const username = z.string().min(1).max(64).regex(
  /^[^[]/,
  'User names do not begin with "["',
).meta({ ...USERNAME });

/** A name of a content class or a retention class. */
export const className = z.string().min(1).max(64).meta({ ...CLASS_NAME });
