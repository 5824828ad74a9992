/** The parts of the page of people who run this installation, as tabs with addresses of their own. */
export function systemTabs(current: 'chains' | 'queues' | 'rates' | 'processes' | 'audit') {
  const tab = (part: typeof current, label: string) => ({ label, to: `/system/${part}`, current: part === current })
  return [
    tab('chains', 'Chains'),
    tab('queues', 'Queues'),
    tab('rates', 'Rates'),
    tab('processes', 'Processes'),
    tab('audit', 'Audit trail'),
  ]
}
