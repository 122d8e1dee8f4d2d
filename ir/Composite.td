//===- Composite.td - ops that keep their own kernels ---------------------===//
#ifndef CLEAVE_COMPOSITE
#define CLEAVE_COMPOSITE

include "OpBase.td"

def AttentionOp : Cleave_TensorOp<"attention", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "softmax(scale * q k^T + mask) v, without the score matrix";
  let description = [{
    q: [B, H, S, D]; k: [B, G, T, D]; v: [B, G, T, E]; mask (added to the scores):
    [B or 1, H or 1, S or 1, T]; result: [B, H, S, E]. G divides H: head h reads
    group h / (H / G). `causal`: query s sees keys up to s + T - S.

    Constraints:
    * all operands have rank 4 and one element type; sizes agree as above.
  }];
  let arguments = (ins StaticTensor:$q, StaticTensor:$k, StaticTensor:$v,
                       Optional<StaticTensor>:$mask, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs StaticTensor:$result);
}

def AttentionGradOp : Cleave_TensorOp<"attention_grad"> {
  let summary = "gradients of attention with respect to q, k and v";
  let description = [{
    Operands as for attention, and the gradient of its result, `dresult` [B, H, S, E].
    With p = softmax(scale * q k^T + mask) and ds = p * (dresult v^T - sum(p * dresult
    v^T)), row by row: dq = scale ds k, dk = scale ds^T q, dv = p^T dresult. Heads of one
    group add up in dk and dv. p is computed again: nothing is kept of the forward pass.

    Constraints:
    * operands as for attention; dresult has the type of its result.
  }];
  let arguments = (ins StaticTensor:$q, StaticTensor:$k, StaticTensor:$v,
                       StaticTensor:$dresult, Optional<StaticTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs StaticTensor:$dq, StaticTensor:$dk, StaticTensor:$dv);
}

def SoftmaxOp : Cleave_TensorOp<"softmax", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "softmax along dim; `log`: its logarithm";
  let arguments = (ins StaticTensor:$x, I64Attr:$dim, UnitAttr:$log);
  let results = (outs StaticTensor:$result);
}

def NormOp : Cleave_TensorOp<"norm", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "layer or root-mean-square norm over the dims from `axis` on";
  let description = [{
    layer: (x - mean) / sqrt(var + epsilon) * scale + bias; rms: x / sqrt(mean(x^2) +
    epsilon) * scale (+ bias). scale and bias have the shape of the normalised dims.
    The variance is biased, as in ONNX LayerNormalization.

    Constraints:
    * 0 <= axis < rank; scale and bias have the shape of dims [axis, rank).
  }];
  let arguments = (ins NormKindAttr:$kind, StaticTensor:$x, Optional<StaticTensor>:$scale,
                       Optional<StaticTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

def NormGradOp : Cleave_TensorOp<"norm_grad"> {
  let summary = "gradient of a norm with respect to x";
  let description = [{
    Of `norm` of the same kind, axis and epsilon, where `dresult` is the gradient of its
    result. With n the norm without scale and bias, r = 1 / sqrt(... + epsilon) and g =
    dresult * scale: layer: r (g - mean(g) - n mean(g n)); rms: r (g - n mean(g n)).

    Constraints:
    * 0 <= axis < rank; dresult has the type of x, scale the shape of dims [axis, rank).
  }];
  let arguments = (ins NormKindAttr:$kind, StaticTensor:$x, StaticTensor:$dresult,
                       Optional<StaticTensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
}

def CrossEntropyOp : Cleave_TensorOp<"cross_entropy", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "loss[i] = logsumexp(logits[i, :]) - logits[i, labels[i]]";
  let description = [{
    logits: [n..., c] float; labels: [n...] i32 or i64; result: [n...]. A label equal to
    `ignore_index` gives 0. With `smoothing` s, the label counts 1 - s, and all classes
    s / c more: logsumexp(logits[i, :]) - (1 - s) logits[i, labels[i]] - s mean(logits[i, :]).
    Constraints:
    * the leading dims of logits are those of labels;
    * 0 <= smoothing <= 1.
  }];
  let arguments = (ins StaticTensor:$logits, StaticTensor:$labels,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs StaticTensor:$result);
}

def CrossEntropyGradOp : Cleave_TensorOp<"cross_entropy_grad"> {
  let summary = "gradient of cross_entropy: (softmax(logits) - weights of labels) * dloss";
  let description = [{
    dloss: [n...]; result: [n..., c]; 0 where the label is `ignore_index`.
    Constraints:
    * shapes as for cross_entropy.
  }];
  let arguments = (ins StaticTensor:$logits, StaticTensor:$labels, StaticTensor:$dloss,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs StaticTensor:$result);
}

#endif
