import type { Workspace } from '#shared/ports/workspaces.ts'

/** The time zone of a workspace's days and months: UTC until it has one. */
export const zoneOf = ({ policy }: Pick<Workspace, 'policy'>): string => policy.timeZone || 'UTC'
