import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

/** The users collection: people who log in to the dashboard. */
export const USERS = defineCollection(
  'users',
  {
    _id: z.string(),
    /** Lower case; unique in the installation. */
    email: z.string(),
    name: z.string(),
    /** argon2id in PHC form. */
    passwordHash: z.string(),
    isOperator: z.boolean(),
    /** Null without an authenticator. Each time step is accepted once, and none before the last one used. */
    totp: z.object({ sealedSecret: z.string(), lastStep: z.number(), since: z.number() }).nullable(),
    /** A secret that was displayed and not confirmed yet. */
    pendingTotp: z.object({ sealedSecret: z.string(), at: z.number() }).nullable(),
    /** Keyed digests of unused recovery codes. */
    recoveryHashes: z.array(z.string()),
    /** Keyed digests of the device tokens of browsers that logged in, newest last. A new password or factor forgets them. */
    devices: z.array(z.string()),
    /**
     * Rises with the password, the second factor, each log-out everywhere and the removal of the person. Whatever was decided on a person
     * carries the epoch that it was read at: a session or a link of another epoch is void, and a write that was decided at one is refused.
     */
    securityEpoch: z.number(),
    createdAt: TIME,
  },
  [{ name: 'user_email', key: { email: 1 }, unique: true }],
)

/** A stored person. */
export type UserDocument = StoredOf<typeof USERS>

/** A person who can log in to the dashboard. */
export type User = RecordOf<typeof USERS>

/** The sessions collection; rows expire some time after their end. */
export const SESSIONS = defineCollection(
  'sessions',
  {
    /** SHA-256 of the token, lower-case hex. Only the browser has the token itself. */
    _id: z.string(),
    loginId: z.string(),
    userId: z.string(),
    /** The epoch of the person that the log-in was decided at; at any other the session is void. */
    securityEpoch: z.number(),
    /** `none`: this person has no authenticator. `pending`: password entered, code not yet. `given`: both. */
    secondFactor: z.enum(['none', 'pending', 'given']),
    /** A code was entered for dangerous actions, which are allowed until then. */
    steppedUpUntil: z.number().nullable(),
    loggedInAt: TIME,
    seenAt: TIME,
    /** Its end, whatever happens. */
    endsAt: TIME,
    ip: z.string(),
    userAgent: z.string(),
    /** Another token replaced it. */
    replaced: z.boolean(),
  },
  [
    { name: 'session_user', key: { userId: 1, loggedInAt: -1 } },
    { name: 'session_life', key: { endsAt: 1 }, expireAfterSeconds: 3_600 },
  ],
  { hidden: ['replaced'] },
)

/** A stored session. */
export type SessionDocument = StoredOf<typeof SESSIONS>

/** A stored session. */
export type Session = RecordOf<typeof SESSIONS>

/** The memberships collection; `_id` is `<workspace>:<user>`. */
export const MEMBERSHIPS = defineCollection(
  'memberships',
  {
    _id: z.string(),
    workspaceId: z.string(),
    userId: z.string(),
    role: z.enum(['owner', 'admin', 'support', 'viewer']),
    since: TIME,
    turn: z.number(),
  },
  [
    { name: 'membership_workspace', key: { workspaceId: 1, role: 1 } },
    { name: 'membership_user', key: { userId: 1 } },
  ],
  { hidden: ['_id', 'turn'] },
)

/** A stored membership. `turn` changes whenever the owners of a workspace are counted, so that two counts cannot overlap. */
export type MembershipDocument = StoredOf<typeof MEMBERSHIPS>

/** A person's membership in a workspace. */
export type Membership = RecordOf<typeof MEMBERSHIPS>

const THIRTY_DAYS_S = 30 * 86_400

/** The invitations collection; kept 30 days after they expire. */
export const INVITATIONS = defineCollection(
  'invitations',
  {
    _id: z.string(),
    workspaceId: z.string(),
    email: z.string(),
    role: z.enum(['owner', 'admin', 'support', 'viewer']),
    /** SHA-256 of the token in the mailed link, lower-case hex. */
    tokenHash: z.string(),
    invitedBy: z.string(),
    /** The member who invited. */
    inviterId: z.string(),
    createdAt: TIME,
    expiresAt: TIME,
    /** Null while it is open. */
    closed: z.object({ at: TIME, as: z.enum(['accepted', 'withdrawn', 'void']) }).nullable(),
  },
  [
    { name: 'invitation_token', key: { tokenHash: 1 }, unique: true },
    { name: 'invitation_workspace', key: { workspaceId: 1, createdAt: -1 } },
    { name: 'invitation_life', key: { expiresAt: 1 }, expireAfterSeconds: THIRTY_DAYS_S },
  ],
)

/** An invitation of a person to a workspace. */
export type Invitation = RecordOf<typeof INVITATIONS>

/** The login_attempts collection; a row expires two days after its last failure. */
export const LOGIN_ATTEMPTS = defineCollection(
  'login_attempts',
  {
    _id: z.string(),
    failures: z.number(),
    lastAt: TIME,
    waitUntil: TIME,
  },
  [{ name: 'login_attempt_life', key: { lastAt: 1 }, expireAfterSeconds: 2 * 86_400 }],
)

/** The password_resets collection; a row goes when it expires, or when the person's epoch is raised. */
export const PASSWORD_RESETS = defineCollection(
  'password_resets',
  {
    _id: z.string(),
    userId: z.string(),
    /** SHA-256 of the token in the link, hex; the token itself is only in the mail. */
    tokenHash: z.string(),
    /** The epoch of the person. The link is void at any other; a log-out everywhere and a removal move it to the new one. */
    securityEpoch: z.number(),
    expiresAt: TIME,
  },
  [
    { name: 'reset_token', key: { tokenHash: 1 }, unique: true },
    { name: 'reset_user', key: { userId: 1 } },
    { name: 'reset_life', key: { expiresAt: 1 }, expireAfterSeconds: 0 },
  ],
  { hidden: ['_id'] },
)

/** A link that lets a person choose a new password. */
export type PasswordReset = RecordOf<typeof PASSWORD_RESETS>
