import { expect, it } from 'vitest'
import { html } from './html.ts'

// Guarantee: nothing from the document can become markup or leave its attribute.
it('escapes text for elements and attributes', () => {
  expect(html`<a title="${`"'><script>&`}">${'<b>&amp;</b>'}</a>`.markup).toBe(
    '<a title="&quot;&#39;&gt;&lt;script&gt;&amp;">&lt;b&gt;&amp;amp;&lt;/b&gt;</a>',
  )
})

it('takes markup as it is, joins lists, and writes nothing for null', () => {
  expect(html`${html`<i>${1}</i>`}${[html`<br>`, '<', ['a']]}${null}${[]}`.markup).toBe('<i>1</i><br>&lt;a')
})
