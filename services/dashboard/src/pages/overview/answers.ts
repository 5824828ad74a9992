import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#services/admin/app-router.ts'

type Outputs = inferRouterOutputs<AppRouter>['overview']

/** Results for the cards of the front page. */
export type Volume = Outputs['volume']
export type Funnel = Outputs['funnel']
export type Webhooks = Outputs['webhooks']
export type Chains = Outputs['chains']
export type FirstStepsDone = Outputs['firstSteps']

/** Fields of a query that a card uses. */
export interface CardQuery<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly isPending: boolean
  readonly refetch: () => unknown
}
