import type mongoose from 'mongoose'
import { API_KEYS } from './api-key-model.ts'
import { AUDIT_LOG } from './audit-model.ts'
import { CHAIN_COMMANDS } from './chain-command-model.ts'
import { COIN_BALANCES } from './coin-balance-model.ts'
import type { CollectionModel } from './collection-model.ts'
import { CHAIN_CURSORS } from './cursor-model.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from './endpoint-model.ts'
import { EVENTS } from './event-model.ts'
import { EXCEPTIONS } from './exception-model.ts'
import { IDEMPOTENCY_KEYS } from './idempotency-model.ts'
import { INSTALLATION } from './installation-model.ts'
import { INVOICES } from './invoice-model.ts'
import { LEASES } from './lease-model.ts'
import { MAILS } from './mail-model.ts'
import { OPERATIONS } from './operation-model.ts'
import { INVITATIONS, LOGIN_ATTEMPTS, MEMBERSHIPS, SESSIONS, USERS } from './operator-models.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from './ownership-models.ts'
import { PAYMENT_LINKS } from './payment-link-model.ts'
import { PAYMENTS } from './payment-model.ts'
import { PROCESSES } from './process-model.ts'
import { PRODUCTS } from './product-model.ts'
import { RATE_SNAPSHOTS } from './rate-model.ts'
import { DELIVERY_RECOVERIES } from './recovery-model.ts'
import { REFUNDS } from './refund-model.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS } from './wallet-models.ts'
import { WORKSPACES } from './workspace-model.ts'

/** Every collection of an installation: what `migrate` creates and `verifyIndexes` demands. */
export const MODELS: readonly CollectionModel<mongoose.mongo.Document>[] = [
  WORKSPACES,
  API_KEYS,
  KEY_MATERIAL,
  WALLETS,
  ADDRESSES,
  OWNERSHIP_CHALLENGES,
  OWNERSHIP_PROOFS,
  INVOICES,
  PAYMENTS,
  PAYMENT_LINKS,
  PRODUCTS,
  REFUNDS,
  EVENTS,
  WEBHOOK_ENDPOINTS,
  WEBHOOK_DELIVERIES,
  WEBHOOK_ATTEMPTS,
  DELIVERY_RECOVERIES,
  CHAIN_CURSORS,
  CHAIN_COMMANDS,
  COIN_BALANCES,
  RATE_SNAPSHOTS,
  EXCEPTIONS,
  IDEMPOTENCY_KEYS,
  MAILS,
  LEASES,
  INSTALLATION,
  PROCESSES,
  AUDIT_LOG,
  OPERATIONS,
  USERS,
  SESSIONS,
  MEMBERSHIPS,
  INVITATIONS,
  LOGIN_ATTEMPTS,
]
