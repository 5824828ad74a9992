// biome-ignore-all lint/performance/noBarrelFile: a published package has one entry point, and only it is public.
export { type ConnectionFault, PaymeshApiError, PaymeshConnectionError } from './api-error.ts'
export { createPaymesh, type Paymesh, type PaymeshOptions } from './create-paymesh.ts'
export { type Decision, decide, type FulfilmentAction, type OrderState } from './decide.ts'
export type { FetchLike } from './fetch-text.ts'
export type { Invoices } from './invoices.ts'
export type { Page, PaymeshList } from './list.ts'
export type { PaymentLinks } from './payment-links.ts'
export type { Products } from './products.ts'
export type { CallOptions, WriteOptions } from './transport.ts'
export type * from './types.ts'
export { PaymeshWebhookError, type VerifyWebhookOptions, verifyWebhook, type WebhookFault } from './verify-webhook.ts'
export type { WebhookEndpoints } from './webhook-endpoints.ts'
export {
  createWebhookHandler,
  type WebhookAnswer,
  type WebhookCallbacks,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './webhook-handler.ts'
