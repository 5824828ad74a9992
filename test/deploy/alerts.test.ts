import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processAlertsText } from '#dev/chart.ts'
import type { AlertCase } from './alert-case.ts'
import { ALERT_CASES } from './alert-cases.ts'
import { deployPath, deployText, deployYaml, imageCommands } from './deploy-files.ts'
import { promtool } from './promtool.ts'

interface Rule {
  readonly alert: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const FILES = ['alerts.yml', 'processes.generated.yml']
const rules: readonly Rule[] = FILES.flatMap((file) =>
  deployYaml('prometheus', file).groups.flatMap((group: { readonly rules: readonly Rule[] }) => group.rules),
)
/** One name for each process type's alert. */
const alerts = [...new Set(rules.map(({ alert }) => alert))]

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-alerts-'))
  for (const file of FILES) copyFileSync(deployPath('prometheus', file), join(folder, file))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One promtool story for each case: the alert fires at that time, or no alert of that name does. */
function storiesOf(name: string, { interval = '10s', fires, silent }: AlertCase) {
  const story = (firing: boolean) => (each: AlertCase['fires'][number]) => ({
    name: `${name} ${firing ? 'fires' : 'is silent'}: ${each.why}`,
    interval,
    input_series: Object.entries(each.series).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${name}",alertstate="firing"})`,
        eval_time: each.at,
        exp_samples: firing ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  })
  return [...fires.map(story(true)), ...silent.map(story(false))]
}

// Guarantee: each alert fires when its condition holds and is silent otherwise, as Prometheus itself checks.
it('every alert fires when it should and only then', () => {
  // Each with its own rule only: all rules in each story would take minutes.
  const files = Object.entries(ALERT_CASES).map(([name, each]) => {
    const groups = [{ name, rules: rules.filter(({ alert }) => alert === name) }]
    writeFileSync(join(folder, `${name}.rules.json`), JSON.stringify({ groups }))
    const evaluation_interval = each.interval === undefined ? '10s' : '1m'
    const stories = { rule_files: [`${name}.rules.json`], evaluation_interval, tests: storiesOf(name, each) }
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(stories))
    return `${name}.json`
  })
  const { status, output } = promtool(folder, 'test', 'rules', ...files)
  expect(output).not.toContain('FAILED')
  expect(output.split('SUCCESS')).toHaveLength(files.length + 1)
  expect(status).toBe(0)
})

it('promtool takes the rules and the configuration', () => {
  expect(promtool(folder, 'check', 'rules', ...FILES)).toMatchObject({ status: 0 })
  copyFileSync(deployPath('prometheus', 'prometheus.yml'), join(folder, 'prometheus.yml'))
  expect(promtool(folder, 'check', 'config', 'prometheus.yml')).toMatchObject({ status: 0 })
})

// Guarantee: a process type that does not run at all raises an alert, whatever service discovery still lists.
describe('the alerts of process types', () => {
  it('are those of the Procfile: npm run gen:chart', () => {
    expect(deployText('prometheus', 'processes.generated.yml')).toBe(processAlertsText())
    const named = rules.flatMap(({ labels }) => labels['process'] ?? [])
    expect(named).toEqual([...imageCommands().keys()])
  })

  // The reproduction: the payers' pages are gone for an hour, and nothing else is wrong.
  it('fire for the one that is gone, with its name, and for no other', () => {
    const others = [...imageCommands().keys()].filter((name) => name !== 'checkout')
    const running = others.map((name) => ({
      series: `up{job="paymesh",instance="${name}:4110",process="${name}"}`,
      values: '1x2000',
    }))
    const gone = { series: 'up{job="paymesh",instance="checkout:4110",process="checkout"}', values: '1x30 stale' }
    const labels = { severity: 'page', process: 'checkout' }
    const annotations = { summary: 'No checkout process responds to Prometheus' }
    const test = {
      interval: '10s',
      input_series: [...running, gone],
      alert_rule_test: [
        { eval_time: '5m', alertname: 'ProcessMissing', exp_alerts: [] },
        {
          eval_time: '7m',
          alertname: 'ProcessMissing',
          exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }],
        },
        {
          eval_time: '60m',
          alertname: 'ProcessMissing',
          exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }],
        },
      ],
    }
    const file = { rule_files: FILES, evaluation_interval: '10s', tests: [test] }
    writeFileSync(join(folder, 'gone.json'), JSON.stringify(file))
    expect(promtool(folder, 'test', 'rules', 'gone.json').output).toMatch(/SUCCESS\s*$/)
  })
})

describe('alerts, stories and runbook', () => {
  it('has stories of both kinds for each alert', () => {
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual([...alerts].toSorted())
    const own = rules.filter(({ labels }) => labels['process'] === undefined).map(({ alert }) => alert)
    expect(new Set(own).size).toBe(own.length)
    for (const [name, { fires, silent }] of Object.entries(ALERT_CASES)) {
      expect(Math.min(fires.length, silent.length), name).toBeGreaterThan(0)
    }
  })

  it('says how urgent each is and what it means', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(labels['severity'], alert).toMatch(/^(page|ticket)$/)
      expect(annotations['summary'], alert).toMatch(/^.{20,}$/)
    }
  })

  it('has a section for each alert, in order, and none for what does not exist', () => {
    const book = deployText('RUNBOOK.md')
    expect([...book.matchAll(/^### (.*)$/gm)].map(([, title]) => title)).toEqual(alerts)
    for (const section of book.split(/^### /m).slice(1)) {
      for (const part of ['**Symptom.**', '**Cause.**', '**Do.**'])
        expect(section, section.slice(0, 20)).toContain(part)
    }
    const anchors = new Set(alerts.map((alert) => alert.toLowerCase()))
    for (const [, anchor = ''] of book.matchAll(/\]\(#([^)]*)\)/g)) expect(anchors).toContain(anchor)
  })

  it('names what people look up when it is dark', () => {
    const table = deployText('RUNBOOK.md').split('## Money')[0] ?? ''
    for (const situation of [
      'disk',
      'clock',
      'certificate',
      'Redis',
      'MongoDB',
      'halted',
      'lies',
      'rates',
      'pool',
      'mails',
    ]) {
      expect(table).toContain(situation)
    }
  })
})
