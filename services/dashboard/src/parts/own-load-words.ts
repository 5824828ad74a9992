import { LANGUAGE, type Language } from '../words/language.ts'
import { LOAD_WORDS, type LoadWords } from './load-words.ts'

const es: LoadWords = {
  absent: 'No se encontró. Puede pertenecer a otro espacio de trabajo o al otro modo (real o de prueba).',
  failed: (what) => `Error al cargar ${what}. No se cambió nada.`,
  offline: 'El servidor no respondió.',
  retry: 'Intentar de nuevo',
  request: 'Solicitud',
  old: (what, time) => `No se pudo actualizar ${what}. Ves lo que se leyó a las ${time}.`,
  removed: 'Ya no está: se eliminó o ya no tienes acceso.',
}

const pt: LoadWords = {
  absent: 'Não encontrado. Pode pertencer a outro espaço de trabalho ou ao outro modo (real ou de teste).',
  failed: (what) => `Erro ao carregar ${what}. Nada foi alterado.`,
  offline: 'O servidor não respondeu.',
  retry: 'Tentar de novo',
  request: 'Solicitação',
  old: (what, time) => `Não foi possível atualizar ${what}. Você vê o que foi lido às ${time}.`,
  removed: 'Não está mais aqui: foi removido ou você não tem mais acesso.',
}

const WORDS: Readonly<Record<Language, LoadWords>> = { en: LOAD_WORDS, es, pt }

/** The words of the browser's language, for the pages that are translated. */
export const OWN_LOAD_WORDS: LoadWords = WORDS[LANGUAGE]
