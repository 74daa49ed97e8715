import { z } from "zod";
import { answered, given, HARD_QUOTA, hardQuota, SOFT_QUOTA, tags, tenantSoftQuota, wrappedList } from "./fields.ts";
import { hostLabel, username } from "./names.ts";
import {
  DESCRIPTION,
  GROUPNAME,
  NAMESPACE_QUOTA,
  NAMESPACES_PER_USER,
  PASSWORD,
  PASSWORD_RULES,
  SERVICE_PLAN,
} from "./store_rules.ts";

/** A tenant as the store answers it; what `verbose` hides is null. */
export const tenant = z.looseObject({
  name: answered.text("The tenant's name"),
  systemVisibleDescription: answered.text("What system administrators read"),
  tenantVisibleDescription: answered.text("What the tenant's administrators read"),
  hardQuota: answered.text(HARD_QUOTA),
  softQuota: answered.whole(SOFT_QUOTA),
  namespaceQuota: z.preprocess((value) => typeof value === "number" ? String(value) : value, z.string())
    .meta({ type: "string" }).nullable().default(null).meta({ description: "Most namespaces, or `None`" }),
  authenticationTypes: answered.open("`{authenticationType: […]}` of LOCAL, RADIUS, EXTERNAL"),
  complianceConfigurationEnabled: answered.flag("Whether its administrators set retention"),
  versioningConfigurationEnabled: answered.flag("Whether its administrators set versioning"),
  searchConfigurationEnabled: answered.flag("Whether its administrators set searching"),
  replicationConfigurationEnabled: answered.flag("Whether its administrators set replication"),
  erasureCodingSelectionEnabled: answered.flag("Whether its administrators select erasure coding"),
  servicePlanSelectionEnabled: answered.flag("Whether its administrators select service plans"),
  servicePlan: answered.text("Name of the service plan"),
  administrationAllowed: answered.flag("Whether system administrators may look inside"),
  maxNamespacesPerUser: answered.whole("Most namespaces that one user may own"),
  snmpLoggingEnabled: answered.flag("Whether its events go to SNMP"),
  syslogLoggingEnabled: answered.flag("Whether its events go to syslog"),
  tags: answered.open("`{tag: […]}`"),
  softwareVersion: z.string().optional().meta({ description: "Version of the store's software" }),
}).meta({ id: "Tenant" });

/** Body of a tenant's creation (spec, TenantCreate); members beyond these are dropped. */
export const tenantCreate = z.object({
  name: hostLabel.meta({ description: "Unique", examples: ["museum"] }),
  systemVisibleDescription: given.text("What system administrators read", DESCRIPTION),
  tenantVisibleDescription: given.text("What the tenant's administrators read", DESCRIPTION),
  hardQuota,
  softQuota: tenantSoftQuota,
  namespaceQuota: z.union([z.string().meta({ ...NAMESPACE_QUOTA }), z.int().min(1).meta({ maximum: 10_000 })]).nullish()
    .meta({
      description: "Most namespaces, or `None`",
      examples: ["100"],
    }),
  servicePlan: given.text("Name of the service plan", SERVICE_PLAN),
  dataNetwork: given.text("Name of the network of its data"),
  managementNetwork: given.text("Name of the network of its administration"),
  authenticationTypes: wrappedList("authenticationType", z.enum(["LOCAL", "RADIUS", "EXTERNAL"])).nullish(),
  complianceConfigurationEnabled: given.flag("Whether its administrators may set retention"),
  versioningConfigurationEnabled: given.flag("Whether its administrators may set versioning"),
  searchConfigurationEnabled: given.flag("Whether its administrators may set searching"),
  replicationConfigurationEnabled: given.flag("Whether its administrators may set replication"),
  erasureCodingSelectionEnabled: given.flag("Whether its administrators may select erasure coding"),
  servicePlanSelectionEnabled: given.flag("Whether its administrators may select service plans"),
  tags,
}).meta({ id: "TenantCreate", examples: [{ name: "museum", hardQuota: "50 GB", namespaceQuota: "100" }] });

/** Query of a tenant's creation: its first administrator. */
export const tenantCreateQuery = z.object({
  username: username.meta({ description: "The first user's name", examples: ["lena"] }),
  password: z.string().min(1).meta({
    ...PASSWORD,
    examples: ["gryning-47"],
    description: `The first user's password: ${PASSWORD_RULES}`,
  }),
  forcePasswordChange: z.boolean().default(false).meta({
    description: "Whether it must be changed at the first login",
  }),
  initialSecurityGroup: z.string().min(1).meta({ ...GROUPNAME }).optional().meta({
    description: "A directory group with the SECURITY role",
  }),
});

/** Body of a tenant's change. */
export const tenantUpdate = z.object({
  administrationAllowed: given.flag("Whether system administrators may look inside"),
  maxNamespacesPerUser: given.whole("Most namespaces that one user may own", NAMESPACES_PER_USER),
  snmpLoggingEnabled: given.flag("Whether its events go to SNMP"),
  syslogLoggingEnabled: given.flag("Whether its events go to syslog"),
  tenantVisibleDescription: given.text("What the tenant's administrators read", DESCRIPTION),
  tags,
}).meta({ id: "TenantUpdate", examples: [{ tenantVisibleDescription: "What the museum has photographed" }] });
