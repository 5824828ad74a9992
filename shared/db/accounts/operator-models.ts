import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Invitation } from '#shared/ports/invitations.ts'
import type { Membership } from '#shared/ports/members.ts'
import type { PasswordReset } from '#shared/ports/password-resets.ts'
import type { Session } from '#shared/ports/sessions.ts'
import type { User } from '#shared/ports/users.ts'

/** A stored person. */
export type UserDocument = Omit<User, 'id' | 'createdAt' | 'devices' | 'recoveryHashes'> & {
  _id: string
  createdAt: Date
  recoveryHashes: string[]
  devices: string[]
}

/** The users collection: people who log in to the dashboard. */
export const USERS = defineCollection<UserDocument>(
  'users',
  {
    _id: TEXT,
    email: TEXT,
    name: TEXT,
    passwordHash: TEXT,
    isOperator: { type: Boolean, required: true },
    totp: optional(Object),
    pendingTotp: optional(Object),
    recoveryHashes: [String],
    devices: [String],
    securityEpoch: COUNT,
    createdAt: DATE,
  },
  [{ name: 'user_email', key: { email: 1 }, unique: true }],
)

/** A stored session. */
export type SessionDocument = Omit<Session, 'id' | 'loggedInAt' | 'seenAt' | 'endsAt'> & {
  _id: string
  loggedInAt: Date
  seenAt: Date
  endsAt: Date
  /** Set when another token replaced it. */
  replaced: boolean
}

/** The sessions collection; rows expire some time after their end. */
export const SESSIONS = defineCollection<SessionDocument>(
  'sessions',
  {
    _id: TEXT,
    loginId: TEXT,
    userId: TEXT,
    securityEpoch: COUNT,
    secondFactor: { type: String, enum: ['none', 'asked', 'given'], required: true },
    steppedUpUntil: optional(Number),
    loggedInAt: DATE,
    seenAt: DATE,
    endsAt: DATE,
    ip: { type: String },
    userAgent: { type: String },
    replaced: { type: Boolean, required: true },
  },
  [
    { name: 'session_user', key: { userId: 1, loggedInAt: -1 } },
    { name: 'session_life', key: { endsAt: 1 }, expireAfterSeconds: 3_600 },
  ],
)

/** A stored membership. `turn` changes whenever the owners of a workspace are counted, so that two counts cannot overlap. */
export type MembershipDocument = Omit<Membership, 'since'> & { _id: string; since: Date; turn: number }

/** The memberships collection; `_id` is `<workspace>:<user>`. */
export const MEMBERSHIPS = defineCollection<MembershipDocument>(
  'memberships',
  {
    _id: TEXT,
    workspaceId: TEXT,
    userId: TEXT,
    role: { type: String, enum: ['owner', 'admin', 'support', 'viewer'], required: true },
    since: DATE,
    turn: COUNT,
  },
  [
    { name: 'membership_workspace', key: { workspaceId: 1, role: 1 } },
    { name: 'membership_user', key: { userId: 1 } },
  ],
)

/** A stored invitation. */
export type InvitationDocument = Omit<Invitation, 'id' | 'createdAt' | 'expiresAt' | 'closed'> & {
  _id: string
  createdAt: Date
  expiresAt: Date
  closed: { at: Date; as: 'accepted' | 'withdrawn' | 'void' } | null
}

const THIRTY_DAYS_S = 30 * 86_400

/** The invitations collection; kept 30 days after they expire. */
export const INVITATIONS = defineCollection<InvitationDocument>(
  'invitations',
  {
    _id: TEXT,
    workspaceId: TEXT,
    email: TEXT,
    role: TEXT,
    tokenHash: TEXT,
    invitedBy: TEXT,
    inviterId: TEXT,
    createdAt: DATE,
    expiresAt: DATE,
    closed: optional(Object),
  },
  [
    { name: 'invitation_token', key: { tokenHash: 1 }, unique: true },
    { name: 'invitation_workspace', key: { workspaceId: 1, createdAt: -1 } },
    { name: 'invitation_life', key: { expiresAt: 1 }, expireAfterSeconds: THIRTY_DAYS_S },
  ],
)

/** A counter of failed logins. */
export interface LoginAttemptDocument {
  _id: string
  failures: number
  lastAt: Date
  waitUntil: Date
}

/** The login_attempts collection; a row expires two days after its last failure. */
export const LOGIN_ATTEMPTS = defineCollection<LoginAttemptDocument>(
  'login_attempts',
  { _id: TEXT, failures: COUNT, lastAt: DATE, waitUntil: DATE },
  [{ name: 'login_attempt_life', key: { lastAt: 1 }, expireAfterSeconds: 2 * 86_400 }],
)

/** A stored link; `_id` is `<user>:<place>`, so that the places of a person are their limit. */
export type PasswordResetDocument = Omit<PasswordReset, 'expiresAt'> & { _id: string; expiresAt: Date }

/** The password_resets collection; a row goes when it expires, or when the person's epoch is raised. */
export const PASSWORD_RESETS = defineCollection<PasswordResetDocument>(
  'password_resets',
  { _id: TEXT, userId: TEXT, tokenHash: TEXT, securityEpoch: COUNT, expiresAt: DATE },
  [
    { name: 'reset_token', key: { tokenHash: 1 }, unique: true },
    { name: 'reset_user', key: { userId: 1 } },
    { name: 'reset_life', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
)
