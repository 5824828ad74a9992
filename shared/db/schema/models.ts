import type mongoose from 'mongoose'
import {
  INVITATIONS,
  LOGIN_ATTEMPTS,
  MEMBERSHIPS,
  PASSWORD_RESETS,
  SESSIONS,
  USERS,
} from '#shared/db/accounts/operator-models.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { DELIVERY_RECOVERIES } from '#shared/db/deliveries/recovery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { GO_LIVE_STATEMENTS } from '#shared/db/golive/go-live-model.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { PROCESSES } from '#shared/db/installation/process-model.ts'
import { ADVANCE_FAILURES } from '#shared/db/invoices/advance-failures.ts'
import { INVOICE_COUNTS } from '#shared/db/invoices/invoice-count-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { PAYMENT_HINTS } from '#shared/db/payments/payment-hints.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { RATE_SNAPSHOTS } from '#shared/db/rates/rate-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import { DELIVERY_ROLLUPS, INVOICE_ROLLUPS } from '#shared/db/reports/rollup-models.ts'
import { IDEMPOTENCY_KEYS } from '#shared/db/requests/idempotency-model.ts'
import { OPERATIONS } from '#shared/db/requests/operation-model.ts'
import { CHAIN_COMMANDS } from '#shared/db/scanning/chain-command-model.ts'
import { COIN_BALANCES } from '#shared/db/scanning/coin-balance-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { NODE_USAGE } from '#shared/db/scanning/node-usage-model.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS, WATCH_PACKS } from '#shared/db/wallets/wallet-models.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { WORKSPACE_LOGOS } from '#shared/db/workspaces/logos.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'

/** Every collection of an installation: created by `migrate` and required by `verifyIndexes`. */
export const MODELS: readonly CollectionModel<mongoose.mongo.Document>[] = [
  WORKSPACES,
  WORKSPACE_LOGOS,
  API_KEYS,
  KEY_MATERIAL,
  WALLETS,
  ADDRESSES,
  WATCH_PACKS,
  OWNERSHIP_CHALLENGES,
  OWNERSHIP_PROOFS,
  INVOICES,
  INVOICE_COUNTS,
  ADVANCE_FAILURES,
  INVOICE_ROLLUPS,
  DELIVERY_ROLLUPS,
  PAYMENTS,
  PAYMENT_HINTS,
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
  NODE_USAGE,
  GO_LIVE_STATEMENTS,
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
  PASSWORD_RESETS,
  LOGIN_ATTEMPTS,
]
