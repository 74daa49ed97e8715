import { randomUUID } from "node:crypto";

const TENANT_DEFAULTS = {
  systemVisibleDescription: "",
  tenantVisibleDescription: "",
  hardQuota: "100 GB",
  softQuota: 85,
  namespaceQuota: "None",
  authenticationTypes: { authenticationType: ["LOCAL"] },
  complianceConfigurationEnabled: true,
  versioningConfigurationEnabled: true,
  searchConfigurationEnabled: true,
  replicationConfigurationEnabled: false,
  servicePlan: "Default",
  administrationAllowed: false,
  maxNamespacesPerUser: 100,
  snmpLoggingEnabled: false,
  syslogLoggingEnabled: false,
  tags: { tag: [] },
};

/** The settings of a new tenant: those stated over the defaults. */
export function newTenantRecord(stated: Record<string, unknown>): Record<string, unknown> {
  return { ...TENANT_DEFAULTS, id: randomUUID(), ...stated };
}

/** The settings of a new account: those stated over the defaults. */
export function newUserRecord(stated: Record<string, unknown>): Record<string, unknown> {
  return {
    description: "",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    roles: { role: [] },
    ...stated,
  };
}
