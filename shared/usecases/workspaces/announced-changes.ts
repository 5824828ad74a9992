import type { EndpointOperations } from '#shared/db/deliveries/endpoint-repository.ts'
import type { AuditRecord, AuditWrite } from '#shared/ports/audit.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { AuditInput } from '#shared/ports/users.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type OwnerNoticeDeps, ownerNotices } from './owner-notices.ts'

/** Repositories of endpoint changes, and the dependencies of mails about them. */
export type AnnouncedEndpointsDeps = OwnerNoticeDeps & Uses<'operations' | 'endpoints' | 'notifier'>

/** Repositories whose changes are mailed to every owner, and the dependencies of those mails. */
export type AnnouncedChangesDeps = AnnouncedEndpointsDeps &
  Uses<'workspaceAdmin' | 'memberships' | 'invitations' | 'workspaces'>

/** The repositories whose changes store their mails in the transaction of change and audit row. */
export interface AnnouncedChanges
  extends Pick<AnnouncedChangesDeps, 'workspaceAdmin' | 'operations' | 'memberships' | 'invitations' | 'workspaces'> {}

/**
 * The same repositories with mails to every owner: settings, members and invitations always, keys and endpoints if they are
 * live or of both modes. The person whose role changes, or who is removed, gets the mail too. `from` is the address of the request.
 */
export function announcedChanges(deps: AnnouncedChangesDeps, from: string): AnnouncedChanges {
  const announce = createAnnouncer(deps, from)
  const { workspaceAdmin, memberships, invitations, workspaces } = deps
  const ifLive = (recorded: AuditInput, change: Change<boolean>) =>
    auditOf(recorded).mode === 'test' ? change(recorded) : announce(recorded, change)
  return {
    workspaceAdmin: {
      ...workspaceAdmin,
      issueKey: (key, audit) => ifLive(audit, (auditWrite) => workspaceAdmin.issueKey(key, auditWrite)),
      revokeKey: (id, at, audit) => ifLive(audit, (auditWrite) => workspaceAdmin.revokeKey(id, at, auditWrite)),
      changeWorkspace: (id, epoch, change, audit, logo) =>
        announce(audit, (auditWrite) => workspaceAdmin.changeWorkspace(id, epoch, change, auditWrite, logo)),
    },
    operations: announcedEndpoints(deps, from),
    workspaces: {
      ...workspaces,
      update: (id, change, audit, epoch) =>
        audit === undefined
          ? workspaces.update(id, change, undefined, epoch)
          : announce(audit, (auditWrite) => workspaces.update(id, change, auditWrite, epoch)),
    },
    memberships: {
      ...memberships,
      add: (membership, recorded) => announce(recorded, (auditWrite) => memberships.add(membership, auditWrite)),
      change: (member, was, to, recorded) => {
        const { email } = recorded.audit.detail
        return announce(recorded, (auditWrite) => memberships.change(member, was, to, auditWrite), [String(email)])
      },
    },
    invitations: {
      ...invitations,
      insert: (invitation, recorded) => announce(recorded, (auditWrite) => invitations.insert(invitation, auditWrite)),
      withdraw: (id, at, recorded) => announce(recorded, (auditWrite) => invitations.withdraw(id, at, auditWrite)),
    },
  }
}

type Change<T> = (auditWrite: AuditWrite | AuditInput) => Promise<T>
type Announce = <T>(
  recorded: AuditInput,
  change: (auditWrite: AuditWrite) => Promise<T>,
  to?: readonly string[],
) => Promise<T>

function createAnnouncer(
  deps: Pick<AnnouncedEndpointsDeps, keyof OwnerNoticeDeps | 'notifier'>,
  from: string,
): Announce {
  return async (recorded, change, to = []) => {
    const audit = auditOf(recorded)
    const own = 'audit' in recorded ? (recorded.mails ?? []) : []
    const mails = await ownerNotices(deps, { audit, from, to })
    const outcome = await change({ audit, mails: [...own, ...mails] })
    // A wake-up for a mail that was not stored finds nothing to send.
    for (const { id } of mails) deps.notifier.notify(QUEUES.mail, id)
    return outcome
  }
}

/** The same for endpoints alone. An endpoint of both modes is live, in whichever view it is changed. */
export function announcedEndpoints(deps: AnnouncedEndpointsDeps, from: string): EndpointOperations {
  const announce = createAnnouncer(deps, from)
  const { operations, endpoints } = deps
  const stored = async (id: string, recorded: AuditInput, change: Change<boolean>) => {
    const endpoint = await endpoints.findById(id)
    return endpoint === null || endpoint.mode === 'test' ? await change(recorded) : await announce(recorded, change)
  }
  return {
    ...operations,
    insert: (endpoint, audit, most) =>
      endpoint.mode === 'test'
        ? operations.insert(endpoint, audit, most)
        : announce(audit, (auditWrite) => operations.insert(endpoint, auditWrite, most)),
    update: (id, was, change, at, audit) =>
      stored(id, audit, (auditWrite) => operations.update(id, was, change, at, auditWrite)),
    remove: (id, audit) => stored(id, audit, (auditWrite) => operations.remove(id, auditWrite)),
    setStatus: (id, status, at, audit) =>
      stored(id, audit, (auditWrite) => operations.setStatus(id, status, at, auditWrite)),
    rotate: (id, was, next, at, audit) =>
      stored(id, audit, (auditWrite) => operations.rotate(id, was, next, at, auditWrite)),
  }
}

const auditOf = (recorded: AuditInput): AuditRecord => ('audit' in recorded ? recorded.audit : recorded)
