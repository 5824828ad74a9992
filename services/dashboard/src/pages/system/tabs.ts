/** The sections of the instance admin page, as tabs with their own URLs. */
export function systemTabs(current: 'chains' | 'queues' | 'rates' | 'processes' | 'audit') {
  const tab = (part: typeof current, label: string) => ({ label, to: `/system/${part}`, current: part === current })
  return [
    tab('chains', 'Chains'),
    tab('queues', 'Queues'),
    tab('rates', 'Rates'),
    tab('processes', 'Processes'),
    tab('audit', 'Audit log'),
  ]
}
