import type { StartService } from '#services/context.ts'

/**
 * Every process type of this installation in starting order: a process that receives work starts before the one that creates
 * it, and stops after it. A module is loaded only when its service runs.
 */
export const SERVICES = {
  mailer: () => import('#services/mailer/main.ts'),
  webhooks: () => import('#services/webhooks/main.ts'),
  maintenance: () => import('#services/maintenance/main.ts'),
  invoices: () => import('#services/invoices/main.ts'),
  rates: () => import('#services/rates/main.ts'),
  scanner: () => import('#services/scanner/main.ts'),
  checkout: () => import('#services/checkout/main.ts'),
  admin: () => import('#services/admin/main.ts'),
  api: () => import('#services/api/main.ts'),
} as const satisfies Record<string, () => Promise<{ readonly start: StartService }>>

export type ServiceName = keyof typeof SERVICES

/** Names in starting order. */
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[]

/** Loads a service by any name that starts. */
export const serviceOf = (name: ServiceName): Promise<{ readonly start: StartService }> => SERVICES[name]()

/** The name, or undefined when no service has it. */
export const startableName = (text: string | undefined): ServiceName | undefined =>
  SERVICE_NAMES.find((known) => known === text)
