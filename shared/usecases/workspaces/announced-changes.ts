import type { AuditRecord, Noted } from '#shared/ports/audit.ts'
import type { EndpointDeeds } from '#shared/ports/endpoint-operations.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import type { InvitationRepository, MembershipRepository } from '#shared/ports/members.ts'
import { type Kicker, QUEUES } from '#shared/ports/runtime.ts'
import type { Recorded } from '#shared/ports/users.ts'
import type { TenancyDeeds, WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { type OwnerNoticeDeps, ownerNotices } from './owner-notices.ts'

/** Changes of endpoints, and what the mails about them are made from. */
export interface AnnouncedEndpointsDeps extends OwnerNoticeDeps {
  readonly deeds: EndpointDeeds
  readonly endpoints: Pick<EndpointRepository, 'findById'>
  readonly kicker: Kicker
}

/** The changes that every owner gets a mail about, and what the mails are made from. */
export interface AnnouncedChangesDeps extends AnnouncedEndpointsDeps {
  readonly tenancy: TenancyDeeds
  readonly memberships: MembershipRepository
  readonly invitations: InvitationRepository
  readonly workspaces: Pick<WorkspaceRepository, 'findById' | 'update'>
}

/** The repositories whose changes store their mails in the transaction of change and audit row. */
export interface AnnouncedChanges
  extends Pick<AnnouncedChangesDeps, 'tenancy' | 'deeds' | 'memberships' | 'invitations' | 'workspaces'> {}

/**
 * The same repositories with mails to every owner: settings, members and invitations always, keys and endpoints where they are live,
 * or live as well. The person whose role changes, or who is removed, gets the mail too. `from` is the address of the request.
 */
export function announcedChanges(deps: AnnouncedChangesDeps, from: string): AnnouncedChanges {
  const announce = createAnnouncer(deps, from)
  const { tenancy, memberships, invitations, workspaces } = deps
  const ifLive = (recorded: Recorded, change: Change<boolean>) =>
    auditOf(recorded).mode === 'test' ? change(recorded) : announce(recorded, change)
  return {
    tenancy: {
      ...tenancy,
      issueKey: (key, audit) => ifLive(audit, (noted) => tenancy.issueKey(key, noted)),
      revokeKey: (id, at, audit) => ifLive(audit, (noted) => tenancy.revokeKey(id, at, noted)),
      changeWorkspace: (id, epoch, change, audit) =>
        announce(audit, (noted) => tenancy.changeWorkspace(id, epoch, change, noted)),
    },
    deeds: announcedEndpoints(deps, from),
    workspaces: {
      ...workspaces,
      update: (id, change, audit) =>
        audit === undefined
          ? workspaces.update(id, change)
          : announce(audit, (noted) => workspaces.update(id, change, noted)),
    },
    memberships: {
      ...memberships,
      add: (membership, recorded) => announce(recorded, (noted) => memberships.add(membership, noted)),
      change: (member, was, to, recorded) => {
        const { email } = recorded.audit.detail
        return announce(recorded, (noted) => memberships.change(member, was, to, noted), [String(email)])
      },
    },
    invitations: {
      ...invitations,
      insert: (invitation, recorded) => announce(recorded, (noted) => invitations.insert(invitation, noted)),
      withdraw: (id, at, recorded) => announce(recorded, (noted) => invitations.withdraw(id, at, noted)),
    },
  }
}

type Change<T> = (noted: Noted | Recorded) => Promise<T>
type Announce = <T>(recorded: Recorded, change: (noted: Noted) => Promise<T>, to?: readonly string[]) => Promise<T>

function createAnnouncer(deps: Pick<AnnouncedEndpointsDeps, keyof OwnerNoticeDeps | 'kicker'>, from: string): Announce {
  return async (recorded, change, to = []) => {
    const audit = auditOf(recorded)
    const own = 'audit' in recorded ? (recorded.mails ?? []) : []
    const mails = await ownerNotices(deps, { audit, from, to })
    const outcome = await change({ audit, mails: [...own, ...mails] })
    // A wake-up for a mail that was not stored finds nothing to send.
    for (const { id } of mails) deps.kicker.kick(QUEUES.mail, id)
    return outcome
  }
}

/** The same for endpoints alone. One of both modes is live, whichever view it is changed from. */
export function announcedEndpoints(deps: AnnouncedEndpointsDeps, from: string): EndpointDeeds {
  const announce = createAnnouncer(deps, from)
  const { deeds, endpoints } = deps
  const stored = async (id: string, recorded: Recorded, change: Change<boolean>) => {
    const endpoint = await endpoints.findById(id)
    return endpoint === null || endpoint.mode === 'test' ? await change(recorded) : await announce(recorded, change)
  }
  return {
    ...deeds,
    insert: (endpoint, audit) =>
      endpoint.mode === 'test'
        ? deeds.insert(endpoint, audit)
        : announce(audit, (noted) => deeds.insert(endpoint, noted)),
    update: (id, was, change, at, audit) => stored(id, audit, (noted) => deeds.update(id, was, change, at, noted)),
    remove: (id, audit) => stored(id, audit, (noted) => deeds.remove(id, noted)),
    setStatus: (id, status, at, audit) => stored(id, audit, (noted) => deeds.setStatus(id, status, at, noted)),
    rotate: (id, was, next, at, audit) => stored(id, audit, (noted) => deeds.rotate(id, was, next, at, noted)),
  }
}

const auditOf = (recorded: Recorded): AuditRecord => ('audit' in recorded ? recorded.audit : recorded)
