import { z } from "zod";
import {
  given,
  HARD_QUOTA,
  hardQuota,
  hostLabel,
  returned,
  SOFT_QUOTA,
  tags,
  tenantSoftQuota,
  username,
  wrappedList,
} from "./fields.ts";
import {
  DESCRIPTION,
  GROUPNAME,
  NAMESPACE_QUOTA,
  NAMESPACES_PER_USER,
  PASSWORD,
  PASSWORD_RULES,
  SERVICE_PLAN,
} from "./store_rules.ts";

/** A tenant as the store returns it; what `verbose` hides is null. */
export const tenant = z.looseObject({
  name: returned.text("The tenant's name"),
  systemVisibleDescription: returned.text("What system administrators read"),
  tenantVisibleDescription: returned.text("What the tenant's administrators read"),
  hardQuota: returned.text(HARD_QUOTA),
  softQuota: returned.whole(SOFT_QUOTA),
  namespaceQuota: z.preprocess((value) => typeof value === "number" ? String(value) : value, z.string())
    .meta({ type: "string" }).nullable().default(null).meta({ description: "Most namespaces, or `None`" }),
  authenticationTypes: returned.open("`{authenticationType: […]}` of LOCAL, RADIUS, EXTERNAL"),
  complianceConfigurationEnabled: returned.flag("Whether its administrators set retention"),
  versioningConfigurationEnabled: returned.flag("Whether its administrators set versioning"),
  searchConfigurationEnabled: returned.flag("Whether its administrators set searching"),
  replicationConfigurationEnabled: returned.flag("Whether its administrators set replication"),
  erasureCodingSelectionEnabled: returned.flag("Whether its administrators select erasure coding"),
  servicePlanSelectionEnabled: returned.flag("Whether its administrators select service plans"),
  servicePlan: returned.text("Name of the service plan"),
  administrationAllowed: returned.flag("Whether system administrators may look inside"),
  maxNamespacesPerUser: returned.whole("Most namespaces that one user may own"),
  snmpLoggingEnabled: returned.flag("Whether its events go to SNMP"),
  syslogLoggingEnabled: returned.flag("Whether its events go to syslog"),
  tags: returned.open("`{tag: […]}`"),
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
