import type mongoose from 'mongoose'
import { expect } from 'vitest'

/** Every stage of the winning plan, outermost first, with the index it reads. */
export function stagesOf(plan: unknown): { stage: string; indexName?: string }[] {
  if (Array.isArray(plan)) return plan.flatMap(stagesOf)
  if (typeof plan !== 'object' || plan === null) return []
  const own = 'stage' in plan && typeof plan.stage === 'string' ? [plan as { stage: string; indexName?: string }] : []
  const inner = Object.entries(plan).filter(([name]) => name !== 'rejectedPlans')
  return [...own, ...inner.flatMap(([, value]) => stagesOf(value))]
}

export interface QueryPlan {
  readonly stages: readonly string[]
  readonly indexes: readonly (string | undefined)[]
  readonly keysExamined: number
}

export function read(explained: mongoose.mongo.Document): QueryPlan {
  const stages = stagesOf(explained['queryPlanner'] ?? explained['stages']?.[0]?.['$cursor']?.['queryPlanner'])
  const statistics = explained['executionStats'] ?? explained['stages']?.[0]?.['$cursor']?.['executionStats']
  return {
    stages: stages.map((stage) => stage.stage),
    indexes: [...new Set(stages.flatMap((stage) => stage.indexName ?? []))],
    keysExamined: Number(statistics?.['totalKeysExamined'] ?? Number.NaN),
  }
}

export function expectIndexed(explained: QueryPlan, index: string): void {
  expect(explained.stages).not.toContain('COLLSCAN')
  expect(explained.stages).not.toContain('SORT')
  expect(explained.indexes).toEqual([index])
}
