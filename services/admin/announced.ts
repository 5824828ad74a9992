import { type AnnouncedChanges, announcedChanges } from '#shared/usecases/workspaces/announced-changes.ts'
import type { AdminDeps } from './admin-deps.ts'

/** Repositories whose changes are mailed to every owner, for use cases of this request. */
export function announced({ deps, ip }: { readonly deps: AdminDeps; readonly ip: string }): AnnouncedChanges {
  const { workspaces, ownersOf, deeds, endpoints } = deps.instance
  return announcedChanges({ ...deps, workspaces, ownersOf, deeds, endpoints }, ip)
}
