import { BUCKET_CASES } from "./bucket_cases.ts";
import type { GatewayCase } from "./case.ts";
import { FIXITY_CASES } from "./fixity_cases.ts";
import { OBJECT_CASES } from "./object_cases.ts";
import { UPLOAD_CASES } from "./upload_cases.ts";
import { VERSION_CASES } from "./version_cases.ts";

/** The gateway's data plane as its clients see it, whatever store is behind it. */
export const GATEWAY_CONTRACT: readonly GatewayCase[] = [
  ...BUCKET_CASES,
  ...FIXITY_CASES,
  ...OBJECT_CASES,
  ...UPLOAD_CASES,
  ...VERSION_CASES,
];
