// Elements from script. Text becomes text nodes only, so nothing that a person pastes is ever markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties and children: strings, elements, or nothing where a child is null or false. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same in SVG. */
export function draw(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== false));
  return element;
}

export const byId = id => document.getElementById(id);

/** Puts these children in the place of all others. */
export const show = (element, ...children) => element.replaceChildren(...children.flat().filter(Boolean));

/** Runs `work` once nothing was asked for `pause` milliseconds. */
export function debounced(work, pause = 400) {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(work, pause); };
}

export const percent = share => {
  const isNearAnEnd = share >= .0005 && share < .0095 || share >= .995 && share < .9994;
  return (100 * share).toFixed(isNearAnEnd ? 1 : 0) + " %";
};

/** A number as people read it: few digits, powers of ten where it is tiny or huge. */
export function number(value) {
  if (value === null || value === undefined) return "unknown";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e7) ? value.toExponential(1) : value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

export const counted = (count, one, many = one + "s") => count.toLocaleString("en") + " " + (count === 1 ? one : many);
