"""What has been looked at need not be looked at again: of all that is alike on the pages of a site, one is measured.

Two elements are alike if axe-core cannot tell them apart: they have the same tag, attributes, colours, size of text and
visibility, so have all that they stand in, and all that they hold; both or neither scroll; both or neither have a
label, and what they refer to. Their words, and where their links lead, may differ. A menu of 300 entries stands on each
page; with this, its entries are measured once for each way in which one looks.
"""

from typing import Final

# Marks what is alike with `data-alike`, and says whether anything is not. What is known is kept for the next pages of
# the same tab, under this name. For its colours alone, it does not matter what an element holds.
MARK: Final = """((store, isOfColours) => {
    const WORDS = new Set(['href', 'src', 'id', 'name', 'value', 'title', 'alt', 'aria-label', 'placeholder',
        'datetime', 'content', 'data-clipboard-target', 'data-clipboard-text', 'd']);
    const REFERENCES = new Set(['for', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'headers']);
    const IN_ORDER = new Set(['TR', 'THEAD', 'DL', 'SELECT']);  // of others, it is enough which kinds they hold
    const known = new Set(JSON.parse(sessionStorage.getItem(store) || '[]'));
    const counts = {};
    for (const one of document.querySelectorAll('[id]')) counts[one.id] = (counts[one.id] || 0) + 1;
    let unique = performance.timeOrigin;

    const hash = text => {  // cyrb53
        let a = 0xdeadbeef, b = 0x41c6ce57;
        for (let at = 0; at < text.length; at++) {
            const code = text.charCodeAt(at);
            a = Math.imul(a ^ code, 2654435761); b = Math.imul(b ^ code, 1597334677);
        }
        a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
        b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
        return 4294967296 * (2097151 & b) + (a >>> 0);
    };
    const referred = id => {
        const there = document.getElementById(id);
        return there ? counts[id] + there.tagName + !!there.textContent.trim() : 'nowhere';
    };
    const attribute = ({ name, value }) => {
        if (name === 'data-alike') return '';
        if (name === 'id') return counts[value] > 1 ? 'id twice' : 'id';
        if (WORDS.has(name)) return name + !!value.trim();
        return name + '=' + (REFERENCES.has(name) ? value.trim().split(/\\s+/).map(referred) : value);
    };
    const direct = one =>
        [...one.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim();
    const own = new Map();
    const ownLook = one => {
        if (own.has(one)) return own.get(one);
        const style = getComputedStyle(one);
        const scrolls = /auto|scroll/.test(style.overflow) &&
            (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight);
        const isOwn = one.shadowRoot || one.tagName === 'IFRAME' ? unique++ : '';
        const look = [one.tagName, ...[...one.attributes].map(attribute).sort(), !!one.checked, scrolls, isOwn,
            [...(one.labels || [])].map(label => !!label.textContent.trim()),
            one.checkVisibility({ visibilityProperty: true, opacityProperty: true }), style.color,
            style.backgroundColor, style.backgroundImage === 'none', style.fontSize, style.fontWeight, style.opacity,
            Math.min(direct(one).length, 2)].join('|');
        own.set(one, look);
        return look;
    };
    const whole = new Map();
    const look = one => {
        if (whole.has(one)) return whole.get(one);
        const held = [...one.children].map(look);
        const kinds = IN_ORDER.has(one.tagName) ? held : [...new Set(held)].sort();
        const found = hash(ownLook(one) + '[' + kinds.join() + ']');
        whole.set(one, found);
        return found;
    };
    const hasText = one => direct(one) || one.shadowRoot || /^(INPUT|SELECT|TEXTAREA|IFRAME)$/.test(one.tagName);
    const visit = (one, around) => {  // whether there is something new in it
        const key = hash(around + '>' + (isOfColours ? ownLook(one) : look(one)));
        const isKnown = known.has(key);
        known.add(key);
        if (isKnown && !isOfColours) { one.dataset.alike = ''; return false; }
        const text = one.textContent.trim().length;
        const old = [...one.children].filter(inner => {
            const isAll = inner.textContent.trim().length === text;  // a link in a text is told from one alone
            return !visit(inner, hash(around + '>' + ownLook(one) + isAll));
        });
        const isNew = !isKnown && (!isOfColours || hasText(one)) || old.length < one.children.length;
        if (isOfColours && isNew) for (const inner of old) inner.dataset.alike = '';
        return isNew;
    };
    for (const one of document.querySelectorAll('[data-alike]')) delete one.dataset.alike;
    const isNew = visit(document.body, '');
    sessionStorage.setItem(store, JSON.stringify([...known]));
    return isNew;
})"""
