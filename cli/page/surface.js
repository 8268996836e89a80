/* Where charts are drawn: a canvas, or an SVG text with the same calls. */
const surface = (() => {
  const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
  const font = (size, bold) => `${bold ? "600 " : ""}${size}px ${FONT}`;

  /** Sizes the canvas to its place on the page and its pixels to the screen's. */
  function canvas(element, width, height) {
    const scale = window.devicePixelRatio || 1;
    if (element.width !== Math.round(width * scale) || element.height !== Math.round(height * scale)) {
      element.width = Math.round(width * scale);
      element.height = Math.round(height * scale);
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
    }
    const context = element.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return onContext(context, width, height);
  }

  function onContext(context, width, height) {
    context.textBaseline = "middle";
    const trace = (points) => {
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    };
    let fontNow = "";
    let fillNow = "";
    const fillUse = (fill) => {
      if (fill !== fillNow) context.fillStyle = fillNow = fill;
    };
    return {
      width,
      height,
      rect(x, y, w, h, fill) {
        fillUse(fill);
        context.fillRect(x, y, w, h);
      },
      frame(x, y, w, h, stroke, thickness = 1) {
        context.strokeStyle = stroke;
        context.lineWidth = thickness;
        context.strokeRect(x, y, w, h);
      },
      text(x, y, text, fill, {size = 12, bold = false, align = "left"} = {}) {
        const wanted = font(size, bold);
        if (wanted !== fontNow) context.font = fontNow = wanted;
        if (context.textAlign !== align) context.textAlign = align;
        fillUse(fill);
        context.fillText(text, x, y);
      },
      line(points, stroke, thickness = 1) {
        trace(points);
        context.strokeStyle = stroke;
        context.lineWidth = thickness;
        context.stroke();
      },
      area(points, fill) {
        trace(points);
        context.closePath();
        fillUse(fill);
        context.fill();
      },
    };
  }

  const escaped = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
                              .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const short = (number) => Number(number.toFixed(2));

  function svg(width, height) {
    const parts = [];
    const list = (points) => points.map(([x, y]) => `${short(x)},${short(y)}`).join(" ");
    const anchors = {left: "start", center: "middle", right: "end"};
    return {
      width,
      height,
      rect: (x, y, w, h, fill) => parts.push(
        `<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${escaped(fill)}"/>`),
      frame: (x, y, w, h, stroke, thickness = 1) => parts.push(
        `<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="none" ` +
        `stroke="${escaped(stroke)}" stroke-width="${thickness}"/>`),
      text: (x, y, text, fill, {size = 12, bold = false, align = "left"} = {}) => parts.push(
        `<text x="${short(x)}" y="${short(y)}" fill="${escaped(fill)}" font-size="${size}" ` +
        `font-weight="${bold ? 600 : 400}" text-anchor="${anchors[align]}" dominant-baseline="central">${
          escaped(text)}</text>`),
      line: (points, stroke, thickness = 1) => parts.push(
        `<polyline points="${list(points)}" fill="none" stroke="${escaped(stroke)}" stroke-width="${thickness}"/>`),
      area: (points, fill) => parts.push(`<polygon points="${list(points)}" fill="${escaped(fill)}"/>`),
      text_of: () => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
        `viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}">\n${parts.join("\n")}\n</svg>\n`,
    };
  }

  /** A canvas of its own, for a PNG: twice as fine as the page. */
  function picture(width, height) {
    const element = document.createElement("canvas");
    element.width = width * 2;
    element.height = height * 2;
    const context = element.getContext("2d");
    context.setTransform(2, 0, 0, 2, 0, 0);
    return {element, surface: onContext(context, width, height)};
  }

  return {canvas, svg, picture, font};
})();
